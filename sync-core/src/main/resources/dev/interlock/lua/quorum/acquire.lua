-- Asks one node of a quorum for its vote. If the session owns the name by an earlier sequence, it gives that up by it
-- and leaves a mark: the release of that one may come later, and is to learn that it was the owner.
--
-- KEYS[1] lock     hash    its one field is the owner, `<session>:<sequence>`, with the token drawn for it
-- KEYS[2] waiters  hash    session -> `<since when, us>:<end of its heartbeat, ms>`
-- KEYS[3] token    string  the last fencing token that this node knows, its remote part
-- KEYS[4] mark     string  `<n>:<m>`: highest sequence of this session that is over, highest that was released as an
--   owner
-- ARGV[1] session          the caller
-- ARGV[2] sequence         of its request
-- ARGV[3] lease            ms
-- ARGV[4] floor            the least token
-- ARGV[5] waits            1 if the session goes on waiting if it is refused, else 0
-- Reply: {1, ttl ms, token, owner} the vote; {0, ttl ms, 0, owner} another session owns it; {2, 0, 0, ''} the request
--   is over. Or an error, that a session of another protocol owns it
-- Idempotent by: session, sequence
local lock, waiters, token, mark = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local session, sequence, lease, floor, waits = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]

local owner, number = session .. ':' .. sequence, tonumber(sequence)
local over, released = string.match(redis.call('get', mark) or '0:0', '^(%d+):(%d+)$')
if number <= tonumber(over) then
  return { 2, 0, 0, '' }
end

-- @include session/times
-- @include session/clock
-- @include session/protocol
-- @include vote

local standing = redis.call('hgetall', lock)
local holder, since = standing[1], standing[2]
if holder == owner then
  return { 1, redis.call('pttl', lock), tonumber(since), owner }
end
local holderSession, holderNumber = string.match(holder or '', '^(.+):(%d+)$')
if holderSession and protocolOf(holderSession) ~= protocolOf(session) then
  return refuse(protocolOf(holderSession))
end
local isMine = holderSession == session
if isMine and tonumber(holderNumber) > number then
  return { 2, 0, 0, '' }
elseif not holder or isMine then
  if isMine then
    local before = tonumber(holderNumber)
    over, released = math.max(tonumber(over), before), math.max(tonumber(released), before)
    redis.call('set', mark, string.format('%.0f:%.0f', over, released), 'px', lease + delayMillis)
  end
  local drawn = vote(lock, token, owner, lease, floor)
  redis.call('hdel', waiters, session)
  return { 1, redis.call('pttl', lock), drawn, owner }
end

if waits == '1' then
  local micros, millis = clock()
  local place = redis.call('hget', waiters, session)
  local arrived = place and string.match(place, '^%d+') or string.format('%.0f', micros)
  redis.call('hset', waiters, session, string.format('%s:%.0f', arrived, millis + heartbeatMillis))
  redis.call('pexpire', waiters, 2 * heartbeatMillis)
end
return { 0, redis.call('pttl', lock), 0, holder }
