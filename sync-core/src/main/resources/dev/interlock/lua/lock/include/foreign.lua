-- Gives foreignWaiters: how many plain RLock clients wait for a name, as they listen on Redisson's channel.

-- A server may refuse to tell, so this has to be asked before anything is changed.
local function foreignWaiters(channel, publish)
  local verb = publish == 'spublish' and 'shardnumsub' or 'numsub'
  return redis.call('pubsub', verb, channel)[2]
end
