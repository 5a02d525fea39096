-- Gives rangeOf, signal, signalAll and keepConditions: the waiters of the lock's conditions.
--
-- All of them are in one sorted set, with the same score: so those of one condition stand together, by position. One
-- that is signalled moves to the queue of the lock.

-- @include session/times
-- @include sessions
-- @include admission

-- Admits the waiter unless its session is dead.
local function admitLiving(name, member)
  local id, waiter, lease = string.match(member, ':([^:]+):(%d+):(%d+)$')
  local isAlive = sessionOf(name, id).alive * 1000 >= name.micros
  if isAlive then
    admit(name, id, waiter, lease)
  end
  return isAlive
end

-- The lexical range of a condition.
local function rangeOf(condition)
  return '[' .. condition .. ':', '(' .. condition .. ';'
end

-- Signals the waiter that has waited longest.
local function signal(name, condition)
  local from, to = rangeOf(condition)
  local member
  repeat
    member = redis.call('zrangebylex', name.conditions, from, to, 'limit', 0, 1)[1]
    if member then
      redis.call('zrem', name.conditions, member)
    end
  until not member or admitLiving(name, member)
end

-- Signals all waiters of a condition, or of all conditions.
local function signalAll(name, condition)
  local members
  if condition then
    local from, to = rangeOf(condition)
    members = redis.call('zrangebylex', name.conditions, from, to)
    redis.call('zremrangebylex', name.conditions, from, to)
  else
    members = redis.call('zrange', name.conditions, 0, -1)
    redis.call('del', name.conditions)
  end
  for _, member in ipairs(members) do
    admitLiving(name, member)
  end
end

-- What is known of sessions lives as long as there are waiters, and longer if their tickets may still stand in the
-- queue: the next ones have to get higher sequences.
local function keepConditions(name)
  if redis.call('exists', name.conditions) == 1 then
    redis.call('pexpire', name.conditions, heartbeatMillis * 10)
    redis.call('pexpire', name.signals, heartbeatMillis * 10)
  elseif redis.call('exists', name.queue) == 1 then
    redis.call('pexpire', name.signals, delayMillis)
  else
    redis.call('del', name.signals)
  end
end
