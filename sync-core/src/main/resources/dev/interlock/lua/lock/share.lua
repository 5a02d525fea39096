-- Included by the scripts of the lock; expects the locals lock and readers.

-- Has a sequence of a session share the lock until then.
local function share(session, sequence, untilMillis, millis)
  redis.call('hset', lock, session .. ':r', sequence)
  redis.call('zadd', readers, untilMillis, session)
  local left = untilMillis - millis
  if redis.call('pttl', lock) < left then
    redis.call('pexpire', lock, left)
    redis.call('pexpire', readers, left)
  end
end
