-- Carries out condition operations of a tenure that goes on, and counts the waiters of a condition.
--
-- KEYS[1] lock     hash    Redisson's lock: its one field is the owner, `<session>:<sequence>`, with 1 + operations
--   done; or readers, `<session>:r` each
-- KEYS[2] queue    zset    tickets `<session>:<sequence>:<lease>` by position, those of waiters with `:<waiter>`
-- KEYS[3] waiters  zset    sessions by the end of their heartbeat, ms
-- KEYS[4] conditions zset  waiters of conditions
-- KEYS[5] signals  hash    sessions that wait for conditions, and how the last tenure ended
-- KEYS[6] mark     string  `<n>:<m>`: highest sequence of this session that queued or was over, highest that was
--   released
-- ARGV[1] session          the caller
-- ARGV[2] sequence         of its tenure
-- ARGV[3] first            number of the first operation
-- ARGV[4] operations       as in release
-- ARGV[5] condition        whose waiters are counted
-- ARGV[6] listed           1 if those of the caller are listed, too
-- Reply: {1, 1 if another session stands first in the queue, 1 if conditions have waiters, waiters of the condition,
--   numbers of those listed…}; {0, 0, 0, 0} it isn't the owner
-- Idempotent by: session, sequence, first
local lock, queue, waiters = KEYS[1], KEYS[2], KEYS[3]
local conditions, signals, mark = KEYS[4], KEYS[5], KEYS[6]
local session, sequence, first, operations = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4]
local condition, listed = ARGV[5], ARGV[6]

local owner = session .. ':' .. sequence
local done = tonumber(redis.call('hget', lock, owner))
if not done then
  return { 0, 0, 0, 0 }
end

-- @include session/clock
-- @include admission
-- @include conditions
-- @include operate

local micros, millis = clock()
local name = {
  queued = tonumber(string.match(redis.call('get', mark) or '0', '^%d+')),
  lock = lock, queue = queue, waiters = waiters, conditions = conditions, signals = signals, session = session,
  micros = micros, millis = millis,
}
local count = operate(name, sequence, operations, done - first)
redis.call('hset', lock, owner, string.format('%.0f', math.max(done, first + count)))
enqueueAdmitted(name)
local from, to = rangeOf(condition)
local waiting = redis.call('zlexcount', conditions, from, to)
local head = redis.call('zrange', queue, 0, 0)[1]
local isOthers = head and string.sub(head, 1, #session + 1) ~= session .. ':'
tellAdmitted(name, '')
keepConditions(name)
local reply = { 1, isOthers and 1 or 0, redis.call('exists', conditions), waiting }
if listed == '1' then
  for _, member in ipairs(redis.call('zrangebylex', conditions, from, to)) do
    local id, waiter = string.match(member, ':([^:]+):(%d+):%d+$')
    if id == session then
      reply[#reply + 1] = tonumber(waiter)
    end
  end
end
return reply
