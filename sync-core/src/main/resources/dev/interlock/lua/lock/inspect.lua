-- Tells whether the lock is owned, by any protocol.
--
-- KEYS[1] lock     hash    Redisson's lock
-- Reply: {1} owned, {0} free
-- Idempotent by: reads only
local lock = KEYS[1]

return { redis.call('exists', lock) }
