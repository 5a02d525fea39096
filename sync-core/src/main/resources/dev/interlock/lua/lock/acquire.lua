-- Asks for the lock on behalf of one sequence of a session, or asks again how that request stands. Asking again also
-- renews the session's heartbeat and hands a lock that has become free to the first live waiter.
--
-- KEYS[1] lock     hash    Redisson's lock: its one field is the owner, `<session>:<sequence>`
-- KEYS[2] queue    zset    tickets `<session>:<sequence>:<lease>` by position
-- KEYS[3] waiters  zset    sessions by the end of their heartbeat, ms
-- KEYS[4] token    string  remote part of the last fencing token
-- KEYS[5] turns    hash    hand-overs since plain RLock clients had a turn, and the end of their turn, ms
-- KEYS[6] mark     string  highest sequence of this session that queued or was over, with `:released` if it was released
-- ARGV[1] session          the caller
-- ARGV[2] sequence         the caller's request
-- ARGV[3] lease            ms
-- ARGV[4] enqueue          1: wait in the queue, 0: take it only if it is free
-- ARGV[5] from             the sequence whose tenure this one continues, 0 for none
-- ARGV[6] floor            the least remote part of the fencing token
-- Reply: {1, ttl ms, token, tickets behind, time µs} granted; {2, ttl ms of the holder, 1 if that is foreign, 0,
--   time µs} queued; {3, ttl ms, foreign, 0, time µs} not free; {0, 0, 0, 0, time µs} this sequence is over. The time is 0 if the
--   lock was simply free.
-- Idempotent by: session, sequence
local lock, queue, waiters, token, turns, mark = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local session, sequence, lease, enqueue, from = ARGV[1], ARGV[2], ARGV[3], ARGV[4] == '1', ARGV[5]
local floor = tonumber(ARGV[6])

local caller = session .. ':' .. sequence
local last = redis.call('get', mark)
local isNew = not last or tonumber(sequence) > tonumber(string.match(last, '^%d+'))

-- @include give

if isNew and redis.call('exists', lock, queue) == 0 then
  return { 1, tonumber(lease), give(caller, lease), 0, 0 }
end

local time = redis.call('time')
local micros = time[1] * 1000000 + time[2]
local millis = math.floor(micros / 1000)

-- @include grant

-- A session of which nothing was heard for so long is passed over.
local heartbeat = 3000
-- Marks outlive any command that is delayed on its way.
local markTtl = lease + 300000
local ticket = caller .. ':' .. lease

local function granted()
  local value = tonumber(redis.call('get', token)) or drawToken()
  return { 1, redis.call('pttl', lock), value, redis.call('zcard', queue), micros }
end

-- Anything but one of our own sessions: a plain RLock, another kind of lock.
local function isForeign(holder)
  return holder ~= nil and string.sub(holder, 1, 10) ~= 'interlock-'
end

local function beat()
  redis.call('zadd', waiters, millis + heartbeat, session)
  redis.call('pexpire', waiters, heartbeat * 10)
  redis.call('pexpire', queue, heartbeat * 10)
end

-- For how long plain RLock clients still have their turn. It can't be longer, unless the clock has stepped back.
local function yielding()
  local left = tonumber(redis.call('hget', turns, 'until') or 0) - millis
  return left > 0 and left <= 10 and left or 0
end

local holder = redis.call('hkeys', lock)[1]
local own = holder and string.sub(holder, 1, #session + 1) == session .. ':'
if holder == caller then
  return granted()
elseif own and tonumber(string.sub(holder, #session + 2)) > tonumber(sequence) then
  return { 0, 0, 0, 0, micros }
elseif not isNew and not redis.call('zscore', queue, ticket) then
  return { 0, 0, 0, 0, micros }
end

if isNew then
  redis.call('set', mark, sequence, 'px', markTtl)
else
  redis.call('pexpire', mark, markTtl)
end
if own then
  -- A request ends what the session's earlier sequence still owns.
  redis.call('del', lock)
  if holder == session .. ':' .. from then
    if redis.call('zrem', queue, ticket) == 1 and redis.call('exists', queue) == 0 then
      redis.call('del', waiters)
    end
    give(caller, lease)
    return granted()
  end
  holder = nil
end
if isNew then
  if enqueue then
    local back = redis.call('zrange', queue, -1, -1, 'withscores')[2] or 0
    redis.call('zadd', queue, back + 1, ticket)
    redis.call('zremrangebyscore', waiters, '-inf', '(' .. millis)
    beat()
    if holder and not isForeign(holder) then
      local owner, tenure = string.match(holder, '^(.+):(%d+)$')
      redis.call('publish', 'interlock:mailbox:' .. owner, 'd ' .. tenure .. ' ' .. lock)
    end
  end
else
  beat()
end

local ttl = redis.call('pttl', lock)
if not holder then
  ttl = yielding()
  if ttl == 0 then
    holder = grantHead(caller)
    if not holder then
      give(caller, lease)
      holder = caller
    end
    if holder == caller then
      return granted()
    end
    ttl = redis.call('pttl', lock)
  end
end
return { enqueue and 2 or 3, ttl, isForeign(holder) and 1 or 0, 0, micros }
