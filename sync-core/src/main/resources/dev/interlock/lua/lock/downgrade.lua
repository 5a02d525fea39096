-- Has the owner of the lock go on as a reader of it, and hands it to the readers at the head of the queue, too.
--
-- KEYS[1] lock     hash    Redisson's lock: its one field is the owner, `<session>:<sequence>`, with 1 + operations
--   done; or readers, `<session>:r` each
-- KEYS[2] queue    zset    tickets `<session>:<sequence>:<lease>` by position, those of waiters with `:<waiter>`, of
--   readers with `:r`
-- KEYS[3] waiters  zset    sessions by the end of their heartbeat, ms
-- KEYS[4] token    string  remote part of the last fencing token
-- KEYS[5] turns    any     the turns of plain RLock clients: one isn't due by this
-- KEYS[6] mark     string  `<n>:<m>`: highest sequence of this session that queued or was over, highest that was
--   released
-- KEYS[7] conditions zset  waiters of conditions
-- KEYS[8] signals  hash    sessions that wait for conditions, and how the last tenure ended
-- KEYS[9] readers  zset    sessions that share the lock, by the end of their lease, ms
-- ARGV[1] session          the caller
-- ARGV[2] sequence         of its tenure
-- ARGV[3] lease            ms
-- ARGV[4] floor            the least remote part of the fencing token
-- ARGV[5] first            number of the first operation
-- ARGV[6] operations       what the tenure has to do with its conditions, as in release
-- Reply: {1, tickets waiting} it is a reader now, or was one before; {0, …} it wasn't the owner
-- Idempotent by: session, sequence
local lock, queue, waiters, token, turns, mark = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local conditions, signals, readers = KEYS[7], KEYS[8], KEYS[9]
local session, sequence, lease, floor = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
local first, operations = tonumber(ARGV[5]), ARGV[6]

local owner = session .. ':' .. sequence
local done = tonumber(redis.call('hget', lock, owner))
if not done then
  return { redis.call('hget', lock, session .. ':r') == sequence and 1 or 0, redis.call('zcard', queue) }
end

-- @include session/clock
-- @include share
-- @include admission
-- @include conditions
-- @include operate
-- @include grant

local micros, millis = clock()
local name = {
  queued = tonumber(string.match(redis.call('get', mark) or '0', '^%d+')),
  lock = lock, queue = queue, waiters = waiters, token = token, conditions = conditions, signals = signals,
  readers = readers, session = session, floor = floor, micros = micros, millis = millis,
  hasConditions = redis.call('exists', conditions) == 1,
}

-- It may count on what was left of its lease.
local left = math.max(tonumber(lease), redis.call('pttl', lock))
redis.call('hdel', lock, owner)
operate(name, sequence, operations, done - first)
enqueueAdmitted(name)
share(name, session, sequence, millis + left, millis)
if operations ~= '' or name.hasConditions then
  name.hasConditions = redis.call('exists', conditions) == 1
end
grantHead(name, '', true)
if operations ~= '' or name.hasConditions then
  tellAdmitted(name, '')
  keepConditions(name)
end
return { 1, redis.call('zcard', queue) }
