-- Gives isLiving, keepAlive, endSilence and wakeOne: which sessions that wait are counted on, and which are silent.
--
-- A session that asks about a name each second has the end of its heartbeat as its score, in ms. One that has seen that
-- nothing changes there is silent for some seconds, and has `inf`: it lives as long as the key of its heartbeat, by
-- which it speaks of all names at once.

-- @include session/times
-- @include session/mailbox

local function heartbeatOf(session)
  return 'interlock:{' .. session .. '}:heartbeat'
end

local function isLiving(waiters, session, micros)
  local ends = redis.call('zscore', waiters, session)
  if ends == 'inf' then
    return redis.call('exists', heartbeatOf(session)) == 1
  end
  return tonumber(ends or 0) * 1000 >= micros
end

-- The calling session says by another command than its heartbeat that it waits.
local function keepAlive(waiters, session, millis)
  if redis.call('zscore', waiters, session) == 'inf' then
    redis.call('set', heartbeatOf(session), 1, 'px', heartbeatMillis)
  else
    redis.call('zadd', waiters, millis + heartbeatMillis, session)
  end
end

-- A session waits no more, or asks each second again.
local function endSilence(waiters, session, micros)
  redis.call('zadd', waiters, 'xx', 'lt', math.floor(micros / 1000) + heartbeatMillis, session)
end

-- So many silent sessions are looked at: dead ones, and one that lives.
local mostLooked = 3

-- The lock has got a new owner, or some: has one of the silent sessions ask again, since others may not do so for long
-- and the owner may be dead.
local function wakeOne(lock, waiters, micros)
  for _, id in ipairs(redis.call('zrangebyscore', waiters, 'inf', 'inf', 'limit', 0, mostLooked)) do
    if isLiving(waiters, id, micros) then
      redis.call('zadd', waiters, math.floor(micros / 1000) + 2 * heartbeatMillis, id)
      send(lock, id, 'p ' .. heartbeatMillis / 3 .. ' ' .. lock)
      return
    end
    redis.call('zrem', waiters, id)
  end
end
