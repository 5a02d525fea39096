-- Included by the scripts of the lock; expects the locals channel and publish.

-- How many plain RLock clients wait for this name: they listen on Redisson's channel.
local function foreignWaiters()
  local verb = publish == 'spublish' and 'shardnumsub' or 'numsub'
  return redis.call('pubsub', verb, channel)[2]
end
