-- Asks for the lock on behalf of some sequences of a session, or asks again how these requests stand. Asking again also
-- renews the session's heartbeat and hands a lock that has become free to the first live waiter.
--
-- KEYS[1] lock     hash    Redisson's lock: its one field is the owner, `<session>:<sequence>`; or readers,
--   `<session>:r` each
-- KEYS[2] queue    zset    tickets `<session>:<sequence>:<lease>` by position, those of waiters with `:<waiter>`, of
--   readers with `:r`
-- KEYS[3] waiters  zset    sessions by the end of their heartbeat, ms
-- KEYS[4] token    string  remote part of the last fencing token
-- KEYS[5] turns    hash    hand-overs since plain RLock clients had a turn, and the end of their turn, ms
-- KEYS[6] mark     string  `<n>:<m>`: highest sequence of this session that queued or was over, highest that was
--   released, with `:d` if its operations are done
-- KEYS[7] conditions zset  waiters of conditions
-- KEYS[8] signals  hash    sessions that wait for conditions, and how the last tenure ended
-- KEYS[9] readers  zset    sessions that share the lock, by the end of their lease, ms
-- ARGV[1] session          the caller
-- ARGV[2] tickets          its requests, `<sequence>:<lease>` each, with `:<waiter>` if it is one and `:r` if it only
--   reads, in growing order, separated by spaces
-- ARGV[3] lease            ms, if the first of them gets the lock without having queued
-- ARGV[4] enqueue          1: wait in the queue, 0: take it only if it is free
-- ARGV[5] earlier          an earlier sequence that still owns the lock is ended if 0, left alone if -1, continued if
--   this one
-- ARGV[6] floor            the least remote part of the fencing token
-- ARGV[7] used             tickets served on the tenure of another one, or given up, as in tickets
-- ARGV[8] heartbeat        ms within which the session says again that it waits
-- Reply: {1, ttl ms, token, 1 if others wait + 2 if conditions have waiters, time µs, sequence, last of the run,
--   over…} one of the requests is granted; {2, ttl ms of the holder or -1 if it is this session, 1 if that is
--   foreign, 1 if others wait, time µs, sequence by which the session owns the lock, last of the run, over…} queued;
--   {3, …} not free, with 2 for foreign if sessions are asked whether a thread is inside; {0, …} all requests are
--   over. The run is what the session's tickets are at the head of the queue if it owns the lock; sequences and
--   counts are 0 if there are none. Requests that are over come last. The time is 0 if the lock was simply free.
--   Or an error, that sessions of another protocol are there.
-- Idempotent by: session, tickets
local lock, queue, waiters, token, turns, mark = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local conditions, signals, readers = KEYS[7], KEYS[8], KEYS[9]
local session, tickets, lease, enqueue, earlier = ARGV[1], ARGV[2], ARGV[3], ARGV[4] == '1', tonumber(ARGV[5])
local floor, used, heartbeat = tonumber(ARGV[6]), ARGV[7], ARGV[8]

-- @include session/times
-- @include session/clock
-- @include session/mailbox
-- @include session/protocol
-- @include draw
-- @include give
-- @include living

local queued, released, settled = string.match(redis.call('get', mark) or '0:0', '^(%d+):(%d+)(.*)$')
queued, released = tonumber(queued), tonumber(released)
local head = string.match(tickets, '^%d+')
local first, caller = tonumber(head), session .. ':' .. head
local reads = string.sub(tickets, -2) == ':r'

-- The fast paths of most requests, which are new and of one ticket. A name that is simply free is taken.
local holder = redis.call('hrandfield', lock) or nil
local isOneNew = first > queued and string.find(tickets, '^%d+:%d+:?r?$') ~= nil
if isOneNew and not holder and redis.call('exists', queue, conditions) == 0 then
  local name = { lock = lock, readers = readers, token = token, floor = floor }
  return { 1, tonumber(lease), give(name, session, head, lease, reads), 0, 0, first, 0 }
end

local micros, millis = clock()

-- Behind one owner that is another session of ours, the ticket queues, or that one is asked whether a thread is inside.
local other, tenureOfOther = string.match(holder or '', '^(interlock%-[^:]+):(%d+)$')
local isBehind = isOneNew and not reads and other and other ~= session and protocolOf(other) == protocolOf(session)
if isBehind and used == '' and redis.call('exists', signals) == 0 then
  local back = enqueue and redis.call('zrange', queue, -1, -1, 'withscores') or {}
  redis.call('set', mark, string.format('%.0f:%.0f%s', first, released, settled), 'px', lease + delayMillis)
  if enqueue then
    redis.call('zadd', queue, (back[2] or 0) + 1, session .. ':' .. tickets)
    if keepAlive(waiters, session, millis, heartbeat) or not back[1] then
      redis.call('pexpire', waiters, queueMillis)
      redis.call('pexpire', queue, queueMillis)
    end
  end
  local ttl = redis.call('pttl', lock)
  if not enqueue then
    send(lock, other, 'i ' .. tenureOfOther .. ' ' .. head .. ' ' .. session .. ' ' .. lock)
  elseif not back[1] or string.match(back[1], '^[^:]+') == other then
    send(lock, other, 'd ' .. tenureOfOther .. ' ' .. lock)
  end
  return { enqueue and 2 or 3, ttl, enqueue and 0 or 2, 0, micros, 0, 0 }
end

-- @include fields
-- @include owners
-- @include holder
-- @include tickets
-- @include sessions
-- @include admission
-- @include conditions
-- @include lost
-- @include run
-- @include turns
-- @include demand
-- @include grant

local name = {
  lock = lock, queue = queue, waiters = waiters, token = token, conditions = conditions,
  signals = signals, readers = readers, session = session, floor = floor, micros = micros, millis = millis,
  -- Looked up when a request may be granted.
  hasConditions = false,
}

holder = holderOf(name)
local tenure = ownBy(lock, session, holder)

-- How each request stands so far. A waiter's ticket doesn't arrive by a request: it was put into the queue when the
-- waiter was signalled, or is over.
local standing, arriving, over, count, waiting = {}, {}, {}, 0, false
for sequence, grantLease in string.gmatch(tickets, '(%d+):(%S+)') do
  local ticket, number = session .. ':' .. sequence .. ':' .. grantLease, tonumber(sequence)
  count = count + 1
  if number == tenure then
    standing[number] = true
  elseif number > queued and number > tenure and not string.find(grantLease, ':%-?%d') then
    standing[number] = true
    arriving[#arriving + 1] = ticket
    queued = number
  elseif redis.call('zscore', queue, ticket) then
    standing[number] = true
    waiting = true
  else
    over[#over + 1] = number
  end
end

if #arriving > 0 and tenure == 0 then
  local other = ownerOf(holder or '') or ownerOf(redis.call('zrange', queue, 0, 0)[1] or '')
    or string.match(redis.call('zrange', conditions, 0, 0)[1] or '', ':(interlock%-[^:]+):%d+:%d+$')
  if other and protocolOf(other) ~= protocolOf(session) then
    return refuse(protocolOf(other))
  end
end

local function answer(status, ttl, detail)
  local last, behind = 0, 0
  if tenure > 0 then
    last, behind = runOf(queue, session)
  end
  if status == 1 then
    behind = behind + 2 * redis.call('exists', conditions)
  end
  local fields = { status, ttl, detail, behind, micros, tenure, last }
  for _, number in ipairs(over) do
    fields[#fields + 1] = number
  end
  return fields
end

local isFreed = false
if used ~= '' then
  for _, sequence in ipairs(dropTickets(queue, session, used)) do
    if tonumber(sequence) == tenure then
      -- It was granted once more before this was known.
      leave(lock, readers, session, sequence)
      holder = holderOf(name)
      tenure, isFreed = 0, not holder
    end
  end
  if redis.call('exists', queue) == 0 then
    redis.call('del', waiters)
  end
end

if #over == count then
  if isFreed then
    tenure = ownBy(lock, session, grantHead(name, ''))
  end
  return answer(0, 0, 0)
end

if (earlier == 0 or earlier == tenure) and tenure > 0 and tenure < first and standing[first] then
  -- A reader has to queue before it writes.
  local continues = tenure == earlier and (reads or not isReader(holder))
  leave(lock, readers, session, string.format('%.0f', tenure))
  if tenure > released then
    released, settled = tenure, ''
  end
  if continues then
    redis.call('zrem', queue, session .. ':' .. string.match(tickets, '^%S+'))
    if redis.call('exists', queue) == 0 then
      redis.call('del', waiters)
    end
    give(name, session, head, lease, reads)
    arriving, waiting = {}, false
  end
  holder = holderOf(name)
  if not holder and redis.call('exists', conditions) == 1 then
    redis.call('hset', signals, 'released', redis.call('get', token) or '')
  end
  tenure = ownBy(lock, session, holder)
end

local newMark = string.format('%.0f:%.0f%s', queued, released, settled)
redis.call('set', mark, newMark, 'px', lease + delayMillis)
if redis.call('hexists', signals, session) == 1 then
  local own = sessionOf(name, session)
  own.highest = math.max(own.highest, queued)
  keepSession(name, session, own)
end
local hasCompany, isFirst, isPoll = false, false, false
if enqueue then
  if #arriving > 0 then
    local back = redis.call('zrange', queue, -1, -1, 'withscores')
    hasCompany = back[1] and ownerOf(back[1]) ~= ownerOf(holder or '')
    enqueueTickets(queue, arriving, back[2] or 0)
    isFirst = not back[1]
  end
  isPoll = waiting and #arriving == 0
  local isNew = (waiting or #arriving > 0) and keepAlive(waiters, session, millis, heartbeat)
  if isPoll then
    redis.call('zremrangebyscore', waiters, '-inf', '(' .. millis)
  end
  if isPoll or isFirst or isNew then
    redis.call('pexpire', waiters, queueMillis)
    redis.call('pexpire', queue, queueMillis)
  end
end

-- A request that only reads and doesn't queue is let in behind all that do.
local guest = reads and not enqueue and tenure == 0 and { sequence = head, lease = lease }
-- It is too late for that when messages have been sent.
if standing[tenure] and redis.call('exists', token) == 0 then
  drawToken(token, floor, micros)
end
local wasHeld, ttl = holder ~= nil, 0
if not holder then
  name.hasConditions = redis.call('exists', conditions) == 1
  if name.hasConditions then
    signalAllIfLost(name)
  end
  ttl = yielding(turns, millis)
  if ttl == 0 then
    holder = grantHead(name, session, false, guest)
    if not holder then
      give(name, session, head, lease, reads)
      holder = reads and session .. ':r' or caller
    end
  end
elseif isReader(holder) and (reads or isPoll) then
  name.hasConditions = redis.call('exists', conditions) == 1
  grantHead(name, session, true, guest)
end
tenure = ownBy(lock, session, holder)
local isTaken = holder and not standing[tenure] and not isForeign(holder)
if enqueue and wasHeld and isTaken and (tenure == 0 or isReader(holder)) then
  -- The holder has been told if others stood there already; but that message may be lost.
  local front = redis.call('zrange', queue, 0, 0)[1]
  local isNew = #arriving > 0 and not hasCompany
  if isNew or isPoll and isReader(holder) and front and ownerOf(front) == session then
    demand(lock, session, 'd')
  end
end
if holder then
  -- When its own tenure ends, the session knows.
  if standing[tenure] and isReader(holder) then
    ttl = (redis.call('zscore', readers, session) or millis) - millis
  else
    ttl = (tenure == 0 or standing[tenure]) and redis.call('pttl', lock) or -1
  end
end
if name.hasConditions then
  tellAdmitted(name, '')
  keepConditions(name)
end
-- A request that is refused asks those who keep it out: one may be about to give up what it has, even if it was granted
-- that just now. Readers are kept out by an earlier sequence of their own session, or by the ticket in front.
local isAsked = not enqueue and isTaken
if isAsked then
  local ticket
  if reads and isReader(holder) then
    ticket = tenure > 0 and string.format('%s:%.0f', session, tenure) or redis.call('zrange', queue, 0, 0)[1]
  end
  demand(lock, session, 'i', head, ticket)
end
if standing[tenure] then
  return answer(1, ttl, tonumber(redis.call('get', token)))
end
return answer(enqueue and 2 or 3, ttl, isAsked and 2 or isForeign(holder) and 1 or 0)
