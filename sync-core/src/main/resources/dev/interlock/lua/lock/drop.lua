-- Releases a lock that nobody waits for: the way of release where that is likely, at less cost. Where it isn't so, nothing
-- happens, and release has to be asked.
--
-- KEYS[1] lock     hash    Redisson's lock: its one field is the owner, `<session>:<sequence>`
-- KEYS[2] queue    zset    tickets `<session>:<sequence>:<lease>` by position
-- KEYS[3] mark     string  highest sequence of this session that queued or was over, with `:released` if it was released
-- ARGV[1] owner            `<session>:<sequence>`
-- ARGV[2] sequence         what it gives up
-- ARGV[3] lease            ms, as in the request
-- ARGV[4] channel          Redisson's channel for this name
-- ARGV[5] publish          the verb Redisson's clients listen by: publish or spublish
-- Reply: {1} released; {0} ask release
-- Idempotent by: owner
local lock, queue, mark = KEYS[1], KEYS[2], KEYS[3]
local owner, sequence, lease, channel, publish = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]

if redis.call('exists', queue) == 1 or redis.call('hdel', lock, owner) == 0 then
  return { 0 }
end
local last = redis.call('set', mark, sequence .. ':released', 'px', lease + 300000, 'get')
if last and tonumber(string.match(last, '^%d+')) > tonumber(sequence) then
  redis.call('set', mark, last, 'px', lease + 300000)
end
redis.call(publish, channel, 0)
return { 1 }
