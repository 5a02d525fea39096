-- Prolongs the lease of a tenure as renew does, but by the key of the lock alone. While the keys of a name are split
-- between nodes of a cluster, no command can have more than one of them.
--
-- KEYS[1] lock     hash    Redisson's lock: its one field is the owner, `<session>:<sequence>`; or readers,
--   `<session>:r` each
-- ARGV[1] session          the caller
-- ARGV[2] sequence         of its tenure
-- ARGV[3] lease            ms; 0 if it isn't prolonged
-- Reply: {1, ttl ms} it is the owner; {2, 0} it is one of the readers, whose leases aren't here; {0, 0} it is neither
-- Idempotent by: session, sequence
local lock = KEYS[1]
local session, sequence, lease = ARGV[1], ARGV[2], tonumber(ARGV[3])

local isOwner = redis.call('hexists', lock, session .. ':' .. sequence) == 1
if not isOwner and redis.call('hget', lock, session .. ':r') ~= sequence then
  return { 0, 0 }
end
if redis.call('pttl', lock) < lease then
  redis.call('pexpire', lock, lease)
end
return { isOwner and 1 or 2, isOwner and redis.call('pttl', lock) or 0 }
