-- Gives isLiving and keepAlive: which sessions that wait are counted on.

local function isLiving(waiters, session, micros)
  return tonumber(redis.call('zscore', waiters, session) or 0) * 1000 >= micros
end

-- The calling session says that it waits, and will say so again before that time is over.
local function keepAlive(waiters, session, millis, heartbeat)
  redis.call('zadd', waiters, millis + heartbeat, session)
end
