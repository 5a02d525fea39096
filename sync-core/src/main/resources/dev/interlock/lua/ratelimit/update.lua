-- Sets a limit for all.
--
-- KEYS[1] updated string   the limit
-- ARGV[1] limit            algorithm, permits, window, burst
-- Reply: {1}
-- Idempotent by: saying the whole limit; a delayed repeat may undo a later update
local updated = KEYS[1]
local limit = ARGV[1]

redis.call('set', updated, limit)
return { 1 }
