-- Gives share: makes a session a reader of the lock, by a sequence and until a time.

local function share(name, session, sequence, untilMillis, millis)
  local left = untilMillis - millis
  local isShort = math.min(redis.call('pttl', name.lock), redis.call('pttl', name.readers)) < left
  if isShort then
    -- First, since a Redis whose memory is full refuses what takes some, unless the script has written before.
    isShort = redis.call('pexpire', name.lock, left) + redis.call('pexpire', name.readers, left) < 2
  end
  redis.call('hset', name.lock, session .. ':r', sequence)
  redis.call('zadd', name.readers, untilMillis, session)
  if isShort then
    redis.call('pexpire', name.lock, left)
    redis.call('pexpire', name.readers, left)
  end
end
