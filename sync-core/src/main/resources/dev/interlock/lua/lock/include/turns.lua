-- Gives yielding and standBack: the turns of plain RLock clients.

-- @include session/mailbox

-- After so many hand-overs in a row that plain RLock clients had to watch, they have a turn of so many ms.
local maxTurns, turnMillis = 16, 10

-- For how long they still have their turn. It can't be longer, unless the clock has stepped back.
local function yielding(name)
  local left = tonumber(redis.call('hget', name.turns, 'until') or 0) - name.millis
  return left > 0 and left <= turnMillis and left or 0
end

-- Counts a hand-over while so many of them wait. Returns whether their turn begins by it: then the lock is really
-- released, and the head of the queue is told to come back after the turn.
local function standBack(name, foreign)
  if foreign == 0 then
    return false
  end
  local due = redis.call('hincrby', name.turns, 'count', 1) >= maxTurns
  redis.call('pexpire', name.turns, 60000)
  if due then
    redis.call('hset', name.turns, 'count', 0, 'until', string.format('%.0f', name.millis + turnMillis))
    local head = redis.call('zrange', name.queue, 0, 0)[1]
    send(string.match(head, '^[^:]+'), 'p ' .. turnMillis .. ' ' .. name.lock)
  end
  return due
end
