-- Sets a limit for all, or for those of one share, unless a later one was set.
--
-- KEYS[1] updated string   the limit that was set: algorithm, permits, window, burst, version
-- ARGV[1] limit            algorithm, permits, window, burst
-- ARGV[2] version          of the update: 0 draws one, greater than all before, µs
-- Reply: {version of the update}
-- Idempotent by: version; a delayed repeat of one that draws it may undo a later update
local updated = KEYS[1]
local limit, version = ARGV[1], tonumber(ARGV[2])

local set = redis.call('get', updated) or ''
local latest = tonumber(set:match('^%a+ %d+ %d+ %d+ (%d+)$') or 0)
if version == 0 then
  local time = redis.call('time')
  version = math.max(time[1] * 1000000 + time[2], latest + 1)
end
if version > latest then
  redis.call('set', updated, limit .. ' ' .. string.format('%.0f', version))
end
return { version }
