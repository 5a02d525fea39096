-- Gives share: makes a session a reader of the lock, by a sequence and until a time.

local function share(name, session, sequence, untilMillis, millis)
  local left = untilMillis - millis
  -- First, since a Redis whose memory is full refuses what takes some, unless the script has written before.
  local isFree = redis.call('pttl', name.lock) < left and redis.call('pexpire', name.lock, left) == 0
  local isFirst = redis.call('pttl', name.readers) < left and redis.call('pexpire', name.readers, left) == 0
  redis.call('hset', name.lock, session .. ':r', sequence)
  redis.call('zadd', name.readers, untilMillis, session)
  if isFree then
    redis.call('pexpire', name.lock, left)
  end
  if isFirst then
    redis.call('pexpire', name.readers, left)
  end
end
