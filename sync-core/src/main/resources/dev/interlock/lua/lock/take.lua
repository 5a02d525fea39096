-- Takes a lock that is free and has no queue: the fast path of acquire, at half its cost. Otherwise nothing happens,
-- and acquire has to be asked.
--
-- KEYS[1] lock     hash    Redisson's lock: its one field is the owner, `<session>:<sequence>`
-- KEYS[2] queue    zset    tickets `<session>:<sequence>:<lease>` by position
-- KEYS[3] token    string  remote part of the last fencing token
-- KEYS[4] conditions zset  waiters of conditions
-- KEYS[5] mark     string  `<n>:<m>`: highest sequence of this session that queued or was over, highest that was
--   released, with `:d` if its operations are done
-- ARGV[1] owner            `<session>:<sequence>`
-- ARGV[2] sequence         the caller's request
-- ARGV[3] lease            ms
-- ARGV[4] floor            the least remote part of the fencing token, 1 if the session has seen none
-- Reply: {token} taken; {0} ask acquire
-- Idempotent by: owner
local lock, queue, token, conditions, mark = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local owner, sequence, lease, floor = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])

-- @include session/clock
-- @include draw

-- A session that has no token of the name has most likely never used it: if nobody has lately, there is no more to see.
local isUnused = floor == 1 and redis.call('exists', lock, queue, conditions, mark, token) == 0
if not isUnused then
  local queued = string.match(redis.call('get', mark) or '0', '^%d+')
  local isNew = tonumber(sequence) > tonumber(queued)
  if not isNew or redis.call('exists', lock, queue, conditions) > 0 then
    return { 0 }
  end
end
redis.call('hset', lock, owner, 1)
redis.call('pexpire', lock, lease)
return { drawToken(token, floor, clock()) }
