-- Tells how many replicas of the node that owns a key are online. One that is still being sent the data can't
-- acknowledge anything.
--
-- KEYS[1] any      any     routes the command
-- Reply: {replicas}
-- Idempotent by: reads only
local any = KEYS[1]

local _, online = string.gsub(redis.call('info', 'replication'), 'slave%d+:[^\r\n]*state=online', '')
return { online }
