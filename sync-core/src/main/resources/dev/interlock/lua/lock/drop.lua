-- Releases a lock that no others wait for: the fast path of release. If others wait, nothing happens, and release has
-- to be asked.
--
-- KEYS[1] lock     hash    Redisson's lock: its one field is the owner, `<session>:<sequence>`
-- KEYS[2] queue    zset    tickets `<session>:<sequence>:<lease>` by position
-- KEYS[3] conditions zset  waiters of conditions
-- KEYS[4] mark     string  `<n>:<m>`: highest sequence of this session that queued or was over, highest that was
--   released, with `:d` if its operations are done
-- ARGV[1] owner            `<session>:<sequence>`
-- ARGV[2] sequence         what it gives up
-- ARGV[3] lease            ms, as in the request
-- ARGV[4] channel          Redisson's channel for this name
-- ARGV[5] publish          the verb Redisson's clients listen by: publish or spublish
-- Reply: {1} released; {0} ask release
-- Idempotent by: owner
local lock, queue, conditions, mark = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local owner, sequence, lease, channel, publish = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]

-- @include session/times

if redis.call('exists', queue, conditions) > 0 or redis.call('hdel', lock, owner) == 0 then
  return { 0 }
end
local before = redis.call('set', mark, sequence .. ':' .. sequence, 'px', lease + delayMillis, 'get')
local queued, released, settled = string.match(before or '0:0', '^(%d+):(%d+)(.*)$')
if tonumber(queued) > tonumber(sequence) then
  local highest = tonumber(released) > tonumber(sequence) and released .. settled or sequence
  redis.call('set', mark, queued .. ':' .. highest, 'px', lease + delayMillis)
end
redis.call(publish, channel, 0)
return { 1 }
