-- Keeps the vote of one node: writes back the token of the tenure, and prolongs the lease if that is a renewed one. A
-- node without an owner, since it was away or has lost its data, votes again if asked to.
--
-- KEYS[1] lock     hash    its one field is the owner, `<session>:<sequence>`, with the token drawn for it
-- KEYS[2] token    string  the last fencing token that this node knows, its remote part
-- KEYS[3] mark     string  `<n>:<m>`: highest sequence of this session that is over, highest that was released as an
--   owner
-- ARGV[1] session          the caller
-- ARGV[2] sequence         of its tenure
-- ARGV[3] lease            ms; 0 if it isn't prolonged, nor voted for anew
-- ARGV[4] floor            the token of the tenure
-- Reply: {1, ttl ms, the token drawn with the vote}; {0, 0, 0}: it isn't the owner
-- Idempotent by: session, sequence
local lock, token, mark = KEYS[1], KEYS[2], KEYS[3]
local session, sequence, lease, floor = ARGV[1], ARGV[2], ARGV[3], ARGV[4]

local owner = session .. ':' .. sequence

-- @include vote

local standing = redis.call('hgetall', lock)
local holder, since = standing[1], standing[2]
if holder == owner then
  if lease ~= '0' then
    redis.call('pexpire', lock, lease)
  end
  raiseToken(token, tonumber(floor))
  return { 1, redis.call('pttl', lock), tonumber(since) }
end
local over = string.match(redis.call('get', mark) or '0:0', '^(%d+):')
if holder or lease == '0' or tonumber(sequence) <= tonumber(over) then
  return { 0, 0, 0 }
end
local drawn = vote(lock, token, owner, lease, floor)
return { 1, redis.call('pttl', lock), drawn }
