-- Included by the scripts of the lock that deal with its conditions, after tickets; expects the locals lock, queue, waiters,
-- conditions, signals and micros.
--
-- All who wait for conditions are in one sorted set, with the same score: so those of one condition stand together, by
-- position. Who is signalled moves to the queue of the lock, with a ticket that tells which waiter it is. Its sequence is the
-- next one after the highest that its session has used here, since the tickets of a session stand in the order of their
-- sequences; sessions leave gaps for these between their own. A session that needs but one ticket, and has one in the queue
-- or owns the lock, gets no other.

-- A session of which nothing was heard for so long is passed over.
local heartbeat = 3000

-- Sessions that wait, as far as this script has to do with them.
local sessions = {}

-- What is kept of a session: `<highest sequence>:<end of its heartbeat, ms>:<1 if each of its threads has a ticket>`.
local function sessionOf(id)
  local known = sessions[id]
  if not known then
    local highest, alive, fair = string.match(redis.call('hget', signals, id) or '0:0:0', '^(%d+):(%d+):(%d)$')
    known = { highest = tonumber(highest), alive = tonumber(alive), fair = fair, news = {} }
    sessions[id] = known
  end
  return known
end

local function keepSession(id, known)
  redis.call('hset', signals, id, string.format('%.0f:%.0f:%s', known.highest, known.alive, known.fair))
end

-- Sessions that own the lock, each with 0, or stand in the queue, each with its highest ticket: others of its threads may have
-- queued before a waiter was registered.
local standing
local function stands(id)
  if not standing then
    standing = {}
    if redis.call('exists', lock, queue) == 0 then
      return nil
    end
    for _, owner in ipairs(redis.call('hkeys', lock)) do
      standing[string.match(owner, '^[^:]*')] = 0
    end
    for _, ticket in ipairs(redis.call('zrange', queue, 0, -1)) do
      local other, sequence = string.match(ticket, '^([^:]*):(%d+)')
      standing[other] = math.max(standing[other] or 0, tonumber(sequence))
    end
  end
  return standing[id]
end

-- Tickets to be added to the queue.
local admitted = {}

-- Gives a waiter that has left its condition its place behind all others. It is negative if it was not signalled. Returns
-- the sequence of its ticket, or 0.
local function admit(id, waiter, lease)
  local known, ahead, sequence = sessionOf(id), stands(id), 0
  if known.fair == '1' or not ahead then
    sequence = math.max(known.highest, math.abs(tonumber(waiter)), ahead or 0) + 1
    known.highest = sequence
    standing[id] = sequence
    admitted[#admitted + 1] = string.format('%s:%.0f:%s:%s', id, sequence, lease, waiter)
  end
  known.news[#known.news + 1] = { waiter, sequence }
  return sequence
end

-- Admits the waiter unless its session is dead.
local function admitLiving(member)
  local id, waiter, lease = string.match(member, ':([^:]+):(%d+):(%d+)$')
  local isAlive = sessionOf(id).alive * 1000 >= micros
  if isAlive then
    admit(id, waiter, lease)
  end
  return isAlive
end

-- The lexical range of a condition.
local function rangeOf(condition)
  return '[' .. condition .. ':', '(' .. condition .. ';'
end

-- Signals the waiter that has waited longest.
local function signal(condition)
  local from, to = rangeOf(condition)
  local member
  repeat
    member = redis.call('zrangebylex', conditions, from, to, 'limit', 0, 1)[1]
    if member then
      redis.call('zrem', conditions, member)
    end
  until not member or admitLiving(member)
end

-- Signals all waiters of a condition, or of all conditions.
local function signalAll(condition)
  local members
  if condition then
    local from, to = rangeOf(condition)
    members = redis.call('zrangebylex', conditions, from, to)
    redis.call('zremrangebylex', conditions, from, to)
  else
    members = redis.call('zrange', conditions, 0, -1)
    redis.call('del', conditions)
  end
  for _, member in ipairs(members) do
    admitLiving(member)
  end
end

-- Adds to the queue who was admitted. Returns whether nobody stood there.
local function enqueueAdmitted()
  if #admitted == 0 then
    return false
  end
  local back = redis.call('zrange', queue, -1, -1, 'withscores')
  enqueueTickets(admitted, back[2] or 0)
  admitted = {}
  for id, known in pairs(sessions) do
    if #known.news > 0 then
      redis.call('zadd', waiters, 'gt', known.alive, id)
      keepSession(id, known)
    end
  end
  return not back[1]
end

-- Tells sessions who of theirs was admitted: numbers of waiters, each with the sequence of its ticket or 0. The one with that
-- ticket was told.
local function tellAdmitted(told)
  for id, known in pairs(sessions) do
    local news = {}
    for _, one in ipairs(known.news) do
      if one[2] == 0 or told ~= string.format('%s:%.0f', id, one[2]) then
        news[#news + 1] = string.format('%s %.0f ', one[1], one[2])
      end
    end
    if #news > 0 then
      redis.call('pexpire', waiters, heartbeat * 10)
      redis.call('pexpire', queue, heartbeat * 10)
      redis.call('publish', 'interlock:mailbox:' .. id, 's ' .. #news * 2 .. ' ' .. table.concat(news) .. lock)
    end
    known.news = {}
  end
end

-- What is known of sessions lives as long as anybody waits.
local function keepConditions()
  if redis.call('exists', conditions) == 0 then
    redis.call('del', signals)
  else
    redis.call('pexpire', conditions, heartbeat * 10)
    redis.call('pexpire', signals, heartbeat * 10)
  end
end
