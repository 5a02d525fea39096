-- Gives turnMillis and yielding: the turns of plain RLock clients.

-- A turn of theirs lasts so long.
local turnMillis = 10

-- For how long they still have their turn. It can't be longer, unless the clock has stepped back.
local function yielding(turns, millis)
  local left = tonumber(redis.call('hget', turns, 'until') or 0) - millis
  return left > 0 and left <= turnMillis and left or 0
end
