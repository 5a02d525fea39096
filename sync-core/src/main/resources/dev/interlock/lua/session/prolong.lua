-- Prolongs the lease of a session among those of others, by the key of these alone. While the keys of a name are split
-- between nodes of a cluster, no command can have more than one of them.
--
-- KEYS[1] leases   zset    sessions by the end of their lease, ms
-- ARGV[1] session          the caller
-- ARGV[2] lease            ms
-- Reply: {1, ttl ms} prolonged; {0, 0} it has none, or that is over
-- Idempotent by: session
local leases = KEYS[1]
local session, lease = ARGV[1], tonumber(ARGV[2])

-- @include clock

local _, millis = clock()
if tonumber(redis.call('zscore', leases, session) or 0) <= millis then
  return { 0, 0 }
end
redis.call('zadd', leases, string.format('%.0f', millis + lease), session)
if redis.call('pttl', leases) < lease then
  redis.call('pexpire', leases, lease)
end
return { 1, lease }
