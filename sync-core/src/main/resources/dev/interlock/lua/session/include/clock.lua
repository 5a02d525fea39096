-- Gives clock: the time of Redis, in µs and in ms.

local function clock()
  local time = redis.call('time')
  local micros = time[1] * 1000000 + time[2]
  return micros, math.floor(micros / 1000)
end
