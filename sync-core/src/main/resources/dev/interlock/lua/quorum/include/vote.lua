-- Gives raiseToken and vote: the tokens of one node of a quorum, and its vote.

-- @include session/clock

-- A token lives for a day after its last use.
local tokenMillis = 86400000

-- Tokens are no less than the time in units of 8 µs, in which no node can draw as many: so a node that has lost its
-- data, or goes on with an older copy, draws none that it has drawn before. The time goes in steps, so that nodes whose
-- clocks show about the same draw the same number. They are shorter than any node is away.
local stepMicros = 16384

-- Raises the token of this node to a value; never lowers it.
local function raiseToken(token, least)
  local known = tonumber(redis.call('get', token) or 0)
  redis.call('set', token, string.format('%.0f', math.max(known, least)), 'px', tokenMillis)
end

-- Makes the caller the owner, and returns the token that is drawn for that, by which this ownership is told from any
-- other.
local function vote(lock, token, owner, lease, floor)
  local known, micros = tonumber(redis.call('get', token) or 0), clock()
  local drawn = math.max(known + 1, tonumber(floor), (micros - micros % stepMicros) / 8)
  redis.call('set', token, string.format('%.0f', drawn), 'px', tokenMillis)
  redis.call('del', lock)
  redis.call('hset', lock, owner, string.format('%.0f', drawn))
  redis.call('pexpire', lock, lease)
  return drawn
end
