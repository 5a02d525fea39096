-- Releases what a sequence has, its tenure or its ticket, and hands a tenure over to the first live waiter. Leaves a
-- mark even if it finds nothing, so that a request which arrives later is refused.
--
-- KEYS[1] lock     hash    Redisson's lock: its one field is the owner, `<session>:<sequence>`, with 1 + operations
--   done; or readers, `<session>:r` each
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
-- ARGV[2] sequence         what it gives up
-- ARGV[3] lease            as in its ticket: ms, with `:<waiter>` or `:r` if it was one
-- ARGV[4] floor            the least remote part of the fencing token
-- ARGV[5] channel          Redisson's channel for this name
-- ARGV[6] publish          the verb Redisson's clients listen by: publish or spublish
-- ARGV[7] used             tickets served on this tenure beside its own, as in lease `<sequence>:<lease>` each,
--   separated by spaces
-- ARGV[8] first            number of the first operation
-- ARGV[9] operations       what the tenure has to do with its conditions; of a mere ticket, only `*` is done
-- Reply: {1} it was the owner, or has been released before, by its own release or a later request: if that left its
--   operations undone, all are signalled; {2} it had a ticket; {0} neither
-- Idempotent by: session, sequence
local lock, queue, waiters, token, turns, mark = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local conditions, signals, readers = KEYS[7], KEYS[8], KEYS[9]
local session, sequence, lease, floor = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
local channel, publish, used, first, operations = ARGV[5], ARGV[6], ARGV[7], tonumber(ARGV[8]), ARGV[9]

local number, owner = tonumber(sequence), session .. ':' .. sequence

-- @include session/times
-- @include session/clock
-- @include session/mailbox
-- @include give
-- @include living
-- @include foreign

local markMillis = string.match(lease, '^%d+') + delayMillis
local isPlain = used == '' and operations == ''

-- The fast path of a ticket that leaves the queue, which concerns nobody else unless readers have the lock or there are
-- waiters of conditions.
if isPlain and redis.call('hexists', lock, owner) == 0 and redis.call('exists', conditions, readers) == 0 then
  local queued, others = string.match(redis.call('get', mark) or '0:0', '^(%d+)(:.*)$')
  if redis.call('zrem', queue, owner .. ':' .. lease) == 1 then
    local highest = math.max(tonumber(queued), number)
    redis.call('set', mark, string.format('%.0f', highest) .. others, 'px', markMillis)
    if redis.call('exists', queue) == 0 then
      redis.call('del', waiters, signals)
    end
    return { 2 }
  end
end

-- The fast path of most hand-overs: all there is to do is to give the lock to the head of the queue, which is alive,
-- wants it for itself and has no others of its session behind it.
if isPlain then
  local line = redis.call('zrange', queue, 0, 1)
  local heir, theirs, grantLease = string.match(line[1] or '', '^([^:]+):(%d+):(%d+)$')
  local follower = line[2] and string.match(line[2], '^[^:]+')
  if heir and heir ~= follower and redis.call('exists', conditions) == 0 and foreignWaiters(channel, publish) == 0 then
    local micros = clock()
    if isLiving(waiters, heir, micros) and redis.call('hdel', lock, owner) == 1 then
      local marked = redis.call('set', mark, sequence .. ':' .. sequence, 'px', markMillis, 'get')
      local queued, released, settled = string.match(marked or '0:0', '^(%d+):(%d+)(.*)$')
      queued, released = math.max(tonumber(queued), number), tonumber(released)
      if released <= number then
        released, settled = number, ''
      end
      if queued > number or released > number then
        local newMark = string.format('%.0f:%.0f%s', queued, released, settled)
        redis.call('set', mark, newMark, 'px', markMillis)
      end
      redis.call('zpopmin', queue)
      if not follower then
        redis.call('del', waiters, signals)
      end
      local name = { lock = lock, readers = readers, token = token, floor = floor, micros = micros }
      local value = give(name, heir, theirs, grantLease)
      local grant = string.format('g %s %.0f %.0f %d 0 0 ', theirs, value, micros, follower and 1 or 0)
      send(lock, heir, grant .. lock)
      return { 1 }
    end
  end
end

-- @include fields
-- @include owners
-- @include tickets

local foreign = foreignWaiters(channel, publish)
local queued, released, settled = string.match(redis.call('get', mark) or '0:0', '^(%d+):(%d+)(.*)$')
queued, released = math.max(tonumber(queued), number), tonumber(released)
local before = released >= number
local done = operations ~= '' and tonumber(redis.call('hget', lock, owner)) or 1
local owned, shared = leave(lock, readers, session, sequence)
-- Another command has ended this tenure before, without its operations: which waiters they signal is unknown now.
local hasOperations = operations ~= '' and operations ~= '*'
local isUndone = hasOperations and not owned and not shared and released == number and settled == ''
if (owned or shared) and released <= number or isUndone then
  released, settled = number, operations == '' and '' or ':d'
end
redis.call('set', mark, string.format('%.0f:%.0f%s', queued, released, settled), 'px', markMillis)
local left = not owned and not shared and redis.call('zrem', queue, owner .. ':' .. lease) == 1
local isFree = owned or shared and redis.call('exists', lock) == 0
for _, other in ipairs(dropTickets(queue, session, used)) do
  -- Granted once more, if the lease of the tenure that it was used on is over.
  isFree = isFree or redis.call('hdel', lock, session .. ':' .. other) == 1
end
local reply = { (owned or shared) and 1 or left and 2 or before and 1 or 0 }
local hasConditions = redis.call('exists', conditions) == 1
isUndone = isUndone and hasConditions
local hasReaders = left and redis.call('exists', readers) == 1
if operations == '' and not hasConditions and not hasReaders and redis.call('exists', queue) == 0 then
  redis.call('del', waiters, signals)
  if isFree then
    redis.call(publish, channel, 0)
  end
  return reply
end

-- @include admission
-- @include conditions
-- @include holder
-- @include operate
-- @include turns
-- @include demand
-- @include grant

local micros, millis = clock()
local name = {
  lock = lock, queue = queue, waiters = waiters, token = token, conditions = conditions, signals = signals,
  readers = readers, session = session, floor = floor, micros = micros, millis = millis,
  hasConditions = hasConditions, queued = queued,
}

if owned or left and operations == '*' then
  operate(name, sequence, operations, done - first)
elseif isUndone then
  signalAll(name)
end
local isFirst = enqueueAdmitted(name)
if operations ~= '' then
  name.hasConditions = redis.call('exists', conditions) == 1
end

-- After so many hand-overs in a row that plain RLock clients had to watch, the lock is really released, and the head of
-- the queue is told to come back after their turn.
local maxTurns = 16
local function standBack()
  if foreign == 0 then
    return false
  end
  local due = redis.call('hincrby', turns, 'count', 1) >= maxTurns
  redis.call('pexpire', turns, 60000)
  if due then
    redis.call('hset', turns, 'count', 0, 'until', string.format('%.0f', millis + turnMillis))
    local head = redis.call('zrange', queue, 0, 0)[1]
    send(lock, string.match(head, '^[^:]+'), 'p ' .. turnMillis .. ' ' .. lock)
  end
  return due
end

-- Readers may have stood behind what has left.
local isShared = false
if shared or left or isUndone then
  local holder = holderOf(name)
  isFree = isFree or (shared or isUndone) and not holder
  isShared = isReader(holder)
end
if (owned or shared) and not isShared and name.hasConditions then
  redis.call('hset', signals, 'released', redis.call('get', token) or '')
end
local granted
if redis.call('exists', queue) == 0 then
  redis.call('del', waiters)
elseif isFree or isShared then
  granted = not (isFree and standBack()) and grantHead(name, '', isShared)
end
if left and isShared and redis.call('exists', queue) == 0 then
  demand(lock, session, 'n')
end
if isFree and not granted then
  redis.call(publish, channel, 0)
end
if isUndone and isFirst and not isFree then
  demand(lock, session, 'd')
end
if operations ~= '' or name.hasConditions then
  tellAdmitted(name, granted)
  keepConditions(name)
end
return reply
