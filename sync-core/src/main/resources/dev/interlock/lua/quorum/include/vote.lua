-- Gives raiseToken and vote: the tokens of one node of a quorum, and its vote.

-- A token lives for a day after its last use. Without one, tokens begin with the time in units of 8 µs, in which no
-- node can draw as many.
local tokenMillis = 86400000

-- Raises the token of this node to a value; never lowers it.
local function raiseToken(token, least)
  local known = tonumber(redis.call('get', token) or 0)
  redis.call('set', token, string.format('%.0f', math.max(known, least)), 'px', tokenMillis)
end

-- Makes the caller the owner, and returns the token that is drawn for that, by which this ownership is told from any
-- other.
local function vote(lock, token, owner, lease, floor)
  local known = redis.call('get', token)
  local first
  if known then
    first = tonumber(known) + 1
  else
    local time = redis.call('time')
    first = math.floor((time[1] * 1000000 + time[2]) / 8)
  end
  local drawn = math.max(first, tonumber(floor))
  redis.call('set', token, string.format('%.0f', drawn), 'px', tokenMillis)
  redis.call('del', lock)
  redis.call('hset', lock, owner, string.format('%.0f', drawn))
  redis.call('pexpire', lock, lease)
  return drawn
end
