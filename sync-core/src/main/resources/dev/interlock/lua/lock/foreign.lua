-- Included by the scripts of the lock; expects the locals channel and publish.

-- How many plain RLock clients wait for this name: they listen on Redisson's channel. A server may refuse to tell, so this has to be
-- asked before anything is changed.
local function foreignWaiters()
  local verb = publish == 'spublish' and 'shardnumsub' or 'numsub'
  return redis.call('pubsub', verb, channel)[2]
end
