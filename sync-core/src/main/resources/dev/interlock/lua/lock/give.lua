-- Included by the scripts of the lock, after share and draw; expects the local lock.

-- Makes an owner of a free lock, or a reader of one that is free or shared.
local function give(session, sequence, lease, isShared)
  if isShared then
    local time = redis.call('time')
    local millis = math.floor((time[1] * 1000000 + time[2]) / 1000)
    share(session, sequence, millis + lease, millis)
  else
    redis.call('hset', lock, session .. ':' .. sequence, 1)
    redis.call('pexpire', lock, lease)
  end
  return drawToken()
end
