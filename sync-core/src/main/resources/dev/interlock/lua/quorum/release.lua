-- Gives up the vote of one node for a sequence and all before it, and refuses their requests that are still on their
-- way: leaves a mark even if it finds nothing. Tells the session that has waited longest here.
--
-- KEYS[1] lock     hash    its one field is the owner, `<session>:<sequence>`, with the token drawn for it
-- KEYS[2] waiters  hash    session -> `<since when, us>:<end of its heartbeat, ms>`
-- KEYS[3] mark     string  `<n>:<m>`: highest sequence of this session that is over, highest that was released as an
--   owner
-- ARGV[1] session          the caller
-- ARGV[2] sequence         what it gives up
-- ARGV[3] lease            ms
-- ARGV[4] leaves           1 if the session doesn't wait any more; 0 if it will ask again soon, of which no others are
--   told
-- Reply: {1 if it was the owner, also by its own earlier release, else 0, how many other live sessions wait}
-- Idempotent by: session, sequence
local lock, waiters, mark = KEYS[1], KEYS[2], KEYS[3]
local session, sequence, lease, leaves = ARGV[1], ARGV[2], ARGV[3], ARGV[4]

-- @include session/times
-- @include session/clock
-- @include session/mailbox

local number = tonumber(sequence)
local over, released = string.match(redis.call('get', mark) or '0:0', '^(%d+):(%d+)$')
over, released = math.max(tonumber(over), number), tonumber(released)
local holder = redis.call('hgetall', lock)[1]
local holderSession, holderNumber = string.match(holder or '', '^(.+):(%d+)$')
local owned = holderSession == session and tonumber(holderNumber) <= number
if owned then
  released = math.max(released, tonumber(holderNumber))
end
redis.call('set', mark, string.format('%.0f:%.0f', over, released), 'px', lease + delayMillis)
if owned then
  redis.call('del', lock)
end
local reply = { released >= number and 1 or 0, 0 }
if leaves == '0' then
  return reply
end

redis.call('hdel', waiters, session)
local waiting = redis.call('hgetall', waiters)
if #waiting == 0 then
  return reply
end
local _, millis = clock()
local first, since
for i = 1, #waiting, 2 do
  local arrived, alive = string.match(waiting[i + 1], '^(%d+):(%d+)$')
  if tonumber(alive) < millis then
    redis.call('hdel', waiters, waiting[i])
  else
    reply[2] = reply[2] + 1
    if not first or tonumber(arrived) < since then
      first, since = waiting[i], tonumber(arrived)
    end
  end
end
if owned and first then
  redis.call('publish', mailbox .. first, 'q ' .. sequence .. ' ' .. lock)
end
return reply
