-- Tells who owns a lock, and who stands in its queue.
--
-- KEYS[1] lock     hash    Redisson's lock: its one field is the owner, `<session>:<sequence>`; or readers,
--   `<session>:r` each
-- KEYS[2] queue    zset    tickets `<session>:<sequence>:<lease>` by position
-- Reply: {owners, tickets} separated by spaces
-- Idempotent by: reads only
local lock, queue = KEYS[1], KEYS[2]

return { table.concat(redis.call('hkeys', lock), ' '), table.concat(redis.call('zrange', queue, 0, -1), ' ') }
