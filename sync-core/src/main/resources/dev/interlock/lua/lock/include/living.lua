-- Gives isLiving and keepAlive: which sessions that wait are counted on.

local function isLiving(waiters, session, micros)
  return tonumber(redis.call('zscore', waiters, session) or 0) * 1000 >= micros
end

-- The calling session says that it waits, and will say so again before that time is over. Returns whether it is new:
-- then the key may be, too, and has no time to live.
local function keepAlive(waiters, session, millis, heartbeat)
  return redis.call('zadd', waiters, millis + heartbeat, session) == 1
end
