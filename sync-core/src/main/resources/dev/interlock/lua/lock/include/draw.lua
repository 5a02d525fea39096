-- Gives firstToken and drawToken: the remote part of a fencing token, of a name that has none yet, or of any.
--
-- Tokens count up from the time, in units of 8 µs, at which their key was made. The key lives for an hour, in which
-- Redis can't grant a name as often as the clock ticks; so its successor starts higher, unless the clock of Redis has
-- stepped back by about that hour in between.

-- Sessions have no room for tokens of 2^49 and above: a foreign value that is greater is no token, and no floor.
local tooGreat = 562949953421312

-- Both draw none less than what the caller has seen.
local function firstToken(token, least)
  local time = redis.call('time')
  local value = math.max(least, (time[1] * 1000000 + time[2] - time[2] % 8) / 8)
  redis.call('set', token, string.format('%.0f', value), 'px', 3600000)
  return value
end

local function drawToken(token, floor)
  local value, least = redis.call('incr', token), floor < tooGreat and floor or 0
  if value < least or value < 1000000000 or value >= tooGreat then
    return firstToken(token, least)
  end
  return value
end
