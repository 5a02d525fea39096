-- Gives drawToken: the remote part of a fencing token.
--
-- It is no less than the time, in units of 8 µs, and Redis can't grant a name as often as these pass. So it's greater
-- than all before, even those of which the key says nothing: because it has expired, or because the data is lost, or an
-- older copy. The key has tokens increase while the clock stands, or has stepped back by up to an hour.

local tokenMillis = 3600000

-- Sessions have no room for tokens of 2^49 and above: a foreign value that is greater is no token, and no floor.
local tooGreat = 562949953421312

-- Draws none less than what the caller has seen.
local function drawToken(token, floor, micros)
  local least = floor < tooGreat and floor or 0
  local value = math.max(least, (micros - micros % 8) / 8)
  local before = redis.call('set', token, string.format('%.0f', value), 'px', tokenMillis, 'get')
  local last = tonumber(before or 0) or 0
  if last >= value and last + 1 < tooGreat then
    value = last + 1
    redis.call('set', token, string.format('%.0f', value), 'px', tokenMillis)
  end
  return value
end
