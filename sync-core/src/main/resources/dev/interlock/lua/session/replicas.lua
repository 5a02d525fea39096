-- Tells how many replicas are connected to the node that owns a key.
--
-- KEYS[1] any      any     routes the command
-- Reply: {replicas}
-- Idempotent by: reads only
local any = KEYS[1]

return { tonumber(string.match(redis.call('info', 'replication'), 'connected_slaves:(%d+)') or 0) }
