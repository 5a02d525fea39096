-- Tells what a node does when its memory is full.
--
-- KEYS[1] any      any     routes the command
-- Reply: {bytes that it may use, 0 if there is no limit; policy by which it evicts keys then}
-- Idempotent by: reads only
local any = KEYS[1]

local info = redis.call('info', 'memory')
return { tonumber(string.match(info, 'maxmemory:(%d+)') or 0), string.match(info, 'maxmemory_policy:(%S+)') or '' }
