-- Takes the state of an object that uses a latch, and returns that of the latch. Joins the latch if the object has not,
-- and makes it if there is none.
--
-- KEYS[1] latch    hash    born: when it was made, us; protocol: of those who use it; count; left: what the count is by
--   now; retention, ms
-- KEYS[2] totals   hash    how often each contributor has counted down; gone when it is open
-- KEYS[3] waiters  zset    sessions that wait, by the end of their heartbeat, ms
-- KEYS[4] mark     string  highest version by which this session has joined
-- KEYS[5] opened   string  that the latch which the object has joined was opened, if the latch itself is forgotten soon
-- ARGV[1] session          the caller
-- ARGV[2] contributor      the object
-- ARGV[3] version          grows with every command of the session
-- ARGV[4] born             of the latch that the object has joined, 0 if it has joined none
-- ARGV[5] total            how often it has counted down
-- ARGV[6] waits            1 if threads of the session wait, else 0
-- ARGV[7] count            what the latch begins with
-- ARGV[8] retention        ms, for how long it is to be known that it was opened
-- ARGV[9] most             what the count may be: more means that count-downs are missing
-- Reply: {status, what the count is by now, what it began with, born}; status 1: it is counting; 2: it is open; 3: the
--   latch of that name is another one, or there is none, but that which the object has joined was opened; 0: that is
--   gone, if only because count-downs are missing; 4: it began with another count. Or an error, that the latch is one
--   of another protocol
-- Idempotent by: contributor, total, born; a join by session, version
local latch, totals, waiters, mark, opened = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local session, contributor, version, born = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4]
local total, waits, count, retention, most = tonumber(ARGV[5]), ARGV[6], ARGV[7], ARGV[8], tonumber(ARGV[9])

-- @include session/times
-- @include session/clock
-- @include session/mailbox
-- @include session/protocol

-- A latch that is counting is forgotten this long after its last use.
local unusedMillis = 604800000

local known = redis.call('hmget', latch, 'born', 'count', 'left', 'retention', 'protocol')
if known[1] and known[5] ~= protocolOf(session) then
  return refuse(known[5])
end
local current, began, left = known[1], known[2] or count, tonumber(known[3] or count)
local joins, exists = born == '0', current
if not joins and current ~= born then
  return { 3 * redis.call('exists', opened), 0, 0, tonumber(born) }
elseif began ~= count then
  return { 4, left, tonumber(began), tonumber(current) }
end
if joins then
  local joined = tonumber(redis.call('get', mark) or 0)
  if not exists and joined >= version then
    -- A join that was delayed on its way until after the latch was gone.
    return { 0, 0, 0, 0 }
  elseif joined < version then
    redis.call('set', mark, string.format('%.0f', version), 'px', delayMillis)
  end
end
if not exists then
  local micros = clock()
  current = string.format('%.0f', micros)
  redis.call('hset', latch, 'born', current, 'protocol', protocolOf(session), 'count', count, 'left', count,
    'retention', retention)
end

local before = left
if left > 0 then
  local counted = tonumber(redis.call('hget', totals, contributor) or 0)
  if total > counted then
    redis.call('hset', totals, contributor, string.format('%.0f', total))
    left = math.max(0, left - (total - counted))
    redis.call('hset', latch, 'left', string.format('%.0f', left))
  end
end
-- Redis has gone back to an older copy of its data. Nobody will count down again what is missing; but what was open is.
if not joins and left > most then
  if most > 0 then
    redis.call('unlink', latch, totals, waiters)
    return { 0, 0, 0, tonumber(born) }
  end
  left = 0
  redis.call('hset', latch, 'left', 0)
end

if left > 0 then
  if waits == '1' then
    local _, millis = clock()
    redis.call('zremrangebyscore', waiters, '-inf', string.format('(%.0f', millis))
    redis.call('zadd', waiters, string.format('%.0f', millis + heartbeatMillis), session)
    redis.call('pexpire', waiters, 2 * heartbeatMillis)
  end
  redis.call('pexpire', latch, unusedMillis)
  redis.call('pexpire', totals, unusedMillis)
  return { 1, left, tonumber(count), tonumber(current) }
end

if exists and before == 0 then
  -- Where there are replicas, an answer is to wait until they know; that takes a write.
  redis.call('hset', latch, 'left', 0)
else
  local kept = tonumber(known[4] or retention)
  local waiting = redis.call('zrange', waiters, 0, -1)
  redis.call('unlink', totals, waiters)
  redis.call('pexpire', latch, kept)
  if kept < delayMillis then
    redis.call('set', opened, 1, 'px', delayMillis)
  end
  for _, other in ipairs(waiting) do
    send(latch, other, 'o ' .. current .. ' ' .. latch)
  end
end
return { 2, 0, tonumber(count), tonumber(current) }
