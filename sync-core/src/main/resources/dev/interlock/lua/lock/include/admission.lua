-- Gives admit, enqueueAdmitted and tellAdmitted: they move waiters from their conditions to the queue of the lock.
--
-- A waiter's ticket tells which waiter it is. Its sequence is the next one after the highest that its session has used
-- here, since the tickets of a session stand in the order of their sequences; sessions leave gaps for these between
-- their own. A session that needs but one ticket, and has one in the queue or owns the lock, gets no other.

-- @include session/times
-- @include session/mailbox
-- @include tickets
-- @include sessions
-- @include living

-- Sessions that own the lock or stand in the queue. That has one ticket of each session unless the lock is fair, so it
-- is short if it matters.
local places
local function stands(name, id)
  if not places then
    places = {}
    if redis.call('exists', name.lock, name.queue) == 0 then
      return nil
    end
    for _, owner in ipairs(redis.call('hkeys', name.lock)) do
      places[string.match(owner, '^[^:]*')] = true
    end
    for _, ticket in ipairs(redis.call('zrange', name.queue, 0, -1)) do
      places[string.match(ticket, '^[^:]*')] = true
    end
  end
  return places[id]
end

-- Tickets to be added to the queue.
local admitted = {}

-- Queues a waiter that has left its condition behind all others. Its number is negative if it was not signalled.
-- Returns the sequence of its ticket, or 0.
local function admit(name, id, waiter, lease)
  local known, sequence = sessionOf(name, id), 0
  if known.fair == '1' or not stands(name, id) then
    sequence = math.max(known.highest, math.abs(tonumber(waiter))) + 1
    known.highest = sequence
    if places then
      places[id] = true
    end
    admitted[#admitted + 1] = string.format('%s:%.0f:%s:%s', id, sequence, lease, waiter)
  end
  known.news[#known.news + 1] = { waiter, sequence }
  return sequence
end

-- Adds the tickets of admitted waiters to the queue. Returns whether that was empty.
local function enqueueAdmitted(name)
  if #admitted == 0 then
    return false
  end
  local back = redis.call('zrange', name.queue, -1, -1, 'withscores')
  enqueueTickets(name.queue, admitted, back[2] or 0)
  admitted, places = {}, nil
  for id, known in pairs(sessions) do
    if #known.news > 0 then
      if not isLiving(name.waiters, id, name.micros) then
        redis.call('zadd', name.waiters, known.alive, id)
      end
      keepSession(name, id, known)
    end
  end
  return not back[1]
end

-- Tells sessions which of their waiters were admitted: their numbers, each with the sequence of its ticket or 0. One
-- ticket, given as `<session>:<sequence>`, is left out: its session was told of it.
local function tellAdmitted(name, told)
  for id, known in pairs(sessions) do
    local news = {}
    for _, one in ipairs(known.news) do
      if one[2] == 0 or told ~= string.format('%s:%.0f', id, one[2]) then
        news[#news + 1] = string.format('%s %.0f ', one[1], one[2])
      end
    end
    if #news > 0 then
      redis.call('pexpire', name.waiters, queueMillis)
      redis.call('pexpire', name.queue, queueMillis)
      send(name.lock, id, 's ' .. #news * 2 .. ' ' .. table.concat(news) .. name.lock)
    end
    known.news = {}
  end
end
