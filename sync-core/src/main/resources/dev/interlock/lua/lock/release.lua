-- Gives up whatever a sequence has, its tenure or its ticket, and hands a tenure over to the first live waiter. Leaves a
-- mark even if it finds nothing, so that a request which arrives later is refused.
--
-- KEYS[1] lock     hash    Redisson's lock: its one field is the owner, `<session>:<sequence>`
-- KEYS[2] queue    zset    tickets `<session>:<sequence>:<lease>` by position
-- KEYS[3] waiters  zset    sessions by the end of their heartbeat, ms
-- KEYS[4] token    string  remote part of the last fencing token
-- KEYS[5] turns    hash    hand-overs since plain RLock clients had a turn, and the end of their turn, ms
-- KEYS[6] mark     string  `<n>:<m>`: highest sequence of this session that queued or was over, highest that was released
-- ARGV[1] session          the caller
-- ARGV[2] sequence         what it gives up
-- ARGV[3] lease            ms, as in its ticket
-- ARGV[4] floor            the least remote part of the fencing token
-- ARGV[5] channel          Redisson's channel for this name
-- ARGV[6] publish          the verb Redisson's clients listen by: publish or spublish
-- ARGV[7] used             tickets served on this tenure beside its own, `<sequence>:<lease>` each, separated by spaces
-- Reply: {1} it was the owner, or has been released before, by its own release or a later request; {2} it had a ticket; {0} neither
-- Idempotent by: session, sequence
local lock, queue, waiters, token, turns, mark = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local session, sequence, lease, floor = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
local channel, publish, used = ARGV[5], ARGV[6], ARGV[7]

-- @include tickets

-- Marks outlive any command that is delayed on its way.
local markTtl = lease + 300000
local number = tonumber(sequence)
local queued, released = string.match(redis.call('get', mark) or '0:0', '^(%d+):(%d+)$')
queued, released = math.max(tonumber(queued), number), tonumber(released)
local before = released >= number
local owned = redis.call('hdel', lock, session .. ':' .. sequence) == 1
if owned then
  released = math.max(released, number)
end
redis.call('set', mark, string.format('%.0f:%.0f', queued, released), 'px', markTtl)
local left = not owned and redis.call('zrem', queue, session .. ':' .. sequence .. ':' .. lease) == 1
local isFree = owned
for _, other in ipairs(dropTickets(used)) do
  -- Granted once more, if the lease of the tenure that it was used on is over.
  isFree = isFree or redis.call('hdel', lock, session .. ':' .. other) == 1
end
local isAlone = redis.call('exists', queue) == 0
if isAlone then
  redis.call('del', waiters)
end
local reply = { owned and 1 or left and 2 or before and 1 or 0 }
if not isFree then
  return reply
end
if isAlone then
  redis.call(publish, channel, 0)
  return reply
end

local time = redis.call('time')
local micros = time[1] * 1000000 + time[2]

-- @include give
-- @include grant
-- @include foreign

-- After so many hand-overs in a row that plain RLock clients had to watch, the lock is really released, and the head of
-- the queue is told to come back after so many ms.
local maxTurns, yield = 16, 10
local function standBack()
  if foreignWaiters() == 0 then
    return false
  end
  local due = redis.call('hincrby', turns, 'count', 1) >= maxTurns
  redis.call('pexpire', turns, 60000)
  if due then
    redis.call('hset', turns, 'count', 0, 'until', string.format('%.0f', math.floor(micros / 1000) + yield))
    local head = redis.call('zrange', queue, 0, 0)[1]
    redis.call('publish', 'interlock:mailbox:' .. string.match(head, '^(.+):%d+:%d+$'), 'p ' .. yield .. ' ' .. lock)
  end
  return due
end

if standBack() or not grantHead('') then
  redis.call(publish, channel, 0)
end
return reply
