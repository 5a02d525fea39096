-- Prolongs the lease of a tenure, and returns how many others wait. The session's mark isn't touched: it protects from
-- requests that were sent before the tenure began, and a command that ends another request meanwhile writes it anew.
--
-- KEYS[1] lock     hash    Redisson's lock: its one field is the owner, `<session>:<sequence>`; or readers,
--   `<session>:r` each
-- KEYS[2] queue    zset    tickets `<session>:<sequence>:<lease>` by position
-- KEYS[3] waiters  zset    sessions by the end of their heartbeat, ms
-- KEYS[4] readers  zset    sessions that share the lock, by the end of their lease, ms
-- ARGV[1] session          the caller
-- ARGV[2] sequence         of its tenure
-- ARGV[3] lease            ms; 0 if it isn't prolonged
-- ARGV[4] channel          Redisson's channel for this name
-- ARGV[5] publish          the verb Redisson's clients listen by: publish or spublish
-- Reply: {1, ttl ms, tickets waiting, plain RLock clients waiting}, or {0, 0, 0, 0}: it isn't the owner. A reader isn't
--   told of tickets that are all dead.
-- Idempotent by: session, sequence
local lock, queue, waiters, readers = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local session, sequence, lease, channel, publish = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4], ARGV[5]

-- @include foreign
-- @include session/clock
-- @include share
-- @include living

local foreign = foreignWaiters(channel, publish)
local waiting = redis.call('zcard', queue)
if redis.call('hexists', lock, session .. ':' .. sequence) == 1 then
  if lease > 0 then
    redis.call('pexpire', lock, lease)
  else
    lease = redis.call('pttl', lock)
  end
elseif redis.call('hget', lock, session .. ':r') == sequence then
  local micros, millis = clock()
  -- A lease that is over doesn't begin anew.
  if tonumber(redis.call('zscore', readers, session) or 0) < millis then
    return { 0, 0, 0, 0 }
  end
  share({ lock = lock, readers = readers }, session, sequence, millis + lease, millis)
  -- While it is shared, tickets of the dead may be all there is for long.
  local isAnyLiving = false
  for _, id in ipairs(redis.call('zrange', waiters, 0, -1)) do
    isAnyLiving = isLiving(waiters, id, micros)
    if isAnyLiving then
      break
    end
  end
  waiting = isAnyLiving and waiting or 0
else
  return { 0, 0, 0, 0 }
end
return { 1, lease, waiting, foreign }
