-- Asks how waiters of a session stand, and has others leave their conditions. Also keeps the session alive as one that
-- waits, finds out whether a tenure has ended without its release, and hands a lock that has become free to the first
-- live waiter.
--
-- KEYS[1] lock     hash    Redisson's lock: its one field is the owner, `<session>:<sequence>`; or readers,
--   `<session>:r` each
-- KEYS[2] queue    zset    tickets `<session>:<sequence>:<lease>` by position, those of waiters with `:<waiter>`, of
--   readers with `:r`
-- KEYS[3] waiters  zset    sessions by the end of their heartbeat, ms
-- KEYS[4] token    string  remote part of the last fencing token
-- KEYS[5] turns    hash    hand-overs since plain RLock clients had a turn, and the end of their turn, ms
-- KEYS[6] mark     any     what refuses late commands of this session
-- KEYS[7] conditions zset  waiters of conditions
-- KEYS[8] signals  hash    sessions that wait for conditions, and how the last tenure ended
-- KEYS[9] readers  zset    sessions that share the lock, by the end of their lease, ms
-- ARGV[1] session          the caller
-- ARGV[2] floor            the least remote part of the fencing token
-- ARGV[3] asked            waiters `<condition>:<position>:<waiter>:<lease>`, separated by spaces
-- ARGV[4] leaving          waiters that are to queue for the lock, unless they have been signalled
-- ARGV[5] gone             waiters whose threads don't wait any more
-- ARGV[6] lost             1: a signal has reached no thread
-- Reply: {time µs, waiter, state, sequence, …}: of each that is asked for or leaves, 0 it is signalled or unknown, 1 it
--   waits, 2 it has left without a signal; and the sequence of its ticket, 0 if it has none
-- Idempotent by: session, waiters
local lock, queue, waiters, token, turns, mark = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local conditions, signals, readers = KEYS[7], KEYS[8], KEYS[9]
local session, floor, asked, leaving, gone, lost = ARGV[1], tonumber(ARGV[2]), ARGV[3], ARGV[4], ARGV[5], ARGV[6]

-- @include session/times
-- @include session/clock
-- @include fields
-- @include holder
-- @include sessions
-- @include admission
-- @include conditions
-- @include lost
-- @include turns
-- @include demand
-- @include grant

local micros, millis = clock()
local name = {
  lock = lock, queue = queue, waiters = waiters, token = token, conditions = conditions,
  signals = signals, readers = readers, session = session, floor = floor, micros = micros, millis = millis,
  hasConditions = true,
}

-- Calls with the member, the waiter and its lease.
local function each(text, call)
  for place, waiter, lease in string.gmatch(text, '([^: ]+:%d+):(%d+):(%d+)') do
    call(place .. ':' .. session .. ':' .. waiter .. ':' .. lease, waiter, lease)
  end
end

-- So many tickets are looked at together.
local page = 500

-- The tickets of the session's waiters, as far from the back of the queue as was looked.
local tickets, looked, line = {}, 0, redis.call('zcard', queue)

-- The ticket of a waiter, or nil. What is asked for has mostly been signalled a moment ago, so it is near the back.
local function ticketOf(waiter)
  while not tickets[waiter] and looked < line do
    for _, ticket in ipairs(redis.call('zrange', queue, -looked - page, -looked - 1)) do
      local owner, sequence, sign, number = string.match(ticket, '^([^:]+):(%d+):%d+:(%-?)(%d+)$')
      if owner == session then
        tickets[number] = { text = ticket, sequence = tonumber(sequence), isSignalled = sign == '' }
      end
    end
    looked = looked + page
  end
  return tickets[waiter]
end

local reply = { micros }
local function answer(waiter, state, sequence)
  reply[#reply + 1] = tonumber(waiter)
  reply[#reply + 1] = state
  reply[#reply + 1] = sequence
end

if redis.call('hexists', signals, session) == 1 then
  local own = sessionOf(name, session)
  own.alive = millis + heartbeatMillis
  keepSession(name, session, own)
  redis.call('zadd', waiters, 'xx', 'gt', own.alive, session)
end

each(gone, function(member, waiter)
  if redis.call('zrem', conditions, member) == 0 then
    local ticket = ticketOf(waiter)
    if ticket then
      redis.call('zrem', queue, ticket.text)
      looked = looked - 1
    end
    lost = (not ticket or ticket.isSignalled) and '1' or lost
  end
end)
if lost == '1' then
  signalAll(name)
end
each(leaving, function(member, waiter, lease)
  if redis.call('zrem', conditions, member) == 1 then
    answer(waiter, 2, admit(name, session, '-' .. waiter, lease))
  else
    local ticket = ticketOf(waiter)
    answer(waiter, ticket and not ticket.isSignalled and 2 or 0, ticket and ticket.sequence or 0)
  end
end)
local isFirst = enqueueAdmitted(name)
each(asked, function(member, waiter)
  local isWaiting = redis.call('zscore', conditions, member)
  local ticket = not isWaiting and ticketOf(waiter)
  answer(waiter, isWaiting and 1 or 0, ticket and ticket.sequence or 0)
end)

local holder = holderOf(name)
if not holder and yielding(turns, millis) == 0 then
  if redis.call('exists', conditions) == 1 then
    signalAllIfLost(name)
  end
  grantHead(name, '', false)
elseif isFirst and holder and ownerOf(holder) and (isReader(holder) or ownerOf(holder) ~= session) then
  demand(lock, session, 'd')
end
tellAdmitted(name, '')
keepConditions(name)
return reply
