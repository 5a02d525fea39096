-- Prolongs the lease of a tenure, and tells its owner who waits.
--
-- KEYS[1] lock     hash    Redisson's lock: its one field is the owner, `<session>:<sequence>`
-- KEYS[2] queue    zset    tickets `<session>:<sequence>:<lease>` by position
-- KEYS[3] mark     string  highest sequence of this session seen here
-- ARGV[1] owner            `<session>:<sequence>`
-- ARGV[2] lease            ms
-- ARGV[3] channel          Redisson's channel for this name
-- ARGV[4] publish          the verb Redisson's clients listen by: publish or spublish
-- Reply: {1, ttl ms, tickets waiting, plain RLock clients waiting}, or {0, 0, 0, 0}: it isn't the owner
-- Idempotent by: owner
local lock, queue, mark = KEYS[1], KEYS[2], KEYS[3]
local owner, lease, channel, publish = ARGV[1], ARGV[2], ARGV[3], ARGV[4]

-- @include foreign

if redis.call('hexists', lock, owner) == 0 then
  return { 0, 0, 0, 0 }
end
redis.call('pexpire', lock, lease)
redis.call('pexpire', mark, lease + 300000)
return { 1, redis.call('pttl', lock), redis.call('zcard', queue), foreignWaiters() }
