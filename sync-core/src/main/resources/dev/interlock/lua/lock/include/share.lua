-- Gives share: makes a session a reader of the lock, by a sequence and until a time.

local function share(name, session, sequence, untilMillis, millis)
  redis.call('hset', name.lock, session .. ':r', sequence)
  redis.call('zadd', name.readers, untilMillis, session)
  local left = untilMillis - millis
  if redis.call('pttl', name.lock) < left then
    redis.call('pexpire', name.lock, left)
    redis.call('pexpire', name.readers, left)
  end
end
