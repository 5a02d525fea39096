-- Included by the scripts of the lock, after share; expects the locals lock, token and floor.

-- Draws the remote part of a fencing token. Tokens count up from the time, in units of 8 µs, at which their key was made.
-- It lives for an hour, in which Redis can't grant a name as often as the clock ticks; so its successor starts higher,
-- unless the clock of Redis has stepped back by about that hour in between.
local function drawToken()
  local value = redis.call('incr', token)
  if value < floor or value < 1000000000 then
    local time = redis.call('time')
    value = math.max(floor, (time[1] * 1000000 + time[2] - time[2] % 8) / 8)
    redis.call('set', token, string.format('%.0f', value), 'px', 3600000)
  end
  return value
end

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
