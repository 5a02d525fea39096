-- Says of many names that a session goes on waiting in their queues, and returns which of these have to be asked for by
-- acquire. For a name that another session owns that is all that asking again does.
--
-- KEYS[4i+1] lock     hash    Redisson's lock: its one field is the owner, `<session>:<sequence>`; or readers,
--   `<session>:r` each
-- KEYS[4i+2] queue    zset    tickets `<session>:<sequence>:<lease>` by position, those of waiters with `:<waiter>`, of
--   readers with `:r`
-- KEYS[4i+3] waiters  zset    sessions by the end of their heartbeat, ms
-- KEYS[4i+4] mark     string  what refuses late commands of this session
-- ARGV[1] session          the caller
-- ARGV[2] tickets          one of each name, `<sequence>:<lease>`, with `:<waiter>` or `:r` as in the queue, separated
--   by spaces
-- ARGV[3] heartbeat        ms within which the session says again that it waits
-- Reply: {time µs, ttl ms of the owner or 0 if acquire has to be asked, … of each name}
-- Idempotent by: session, tickets
local session, tickets, heartbeat = ARGV[1], ARGV[2], ARGV[3]

-- @include session/times
-- @include session/clock
-- @include fields
-- @include living

-- The keys have their time begin anew when so much of it is over: not with each question.
local keptMillis = 30000

local micros, millis = clock()
local reply = { micros }
for ticket in string.gmatch(tickets, '%S+') do
  local at = (#reply - 1) * 4
  local lock, queue, waiters, mark = KEYS[at + 1], KEYS[at + 2], KEYS[at + 3], KEYS[at + 4]
  local owner = redis.call('hrandfield', lock) or nil
  local waits = owner and not isReader(owner) and not isForeign(owner) and ownerOf(owner) ~= session
  local ttl = waits and redis.call('zscore', queue, session .. ':' .. ticket) and redis.call('pttl', lock) or 0
  if ttl > 0 then
    keepAlive(waiters, session, millis, heartbeat)
    local markMillis = redis.call('pttl', mark)
    if redis.call('pttl', waiters) < queueMillis - keptMillis or markMillis < 2 * delayMillis - keptMillis then
      redis.call('zremrangebyscore', waiters, '-inf', '(' .. millis)
      redis.call('pexpire', waiters, queueMillis)
      redis.call('pexpire', queue, queueMillis)
      if markMillis < 2 * delayMillis then
        redis.call('pexpire', mark, 2 * delayMillis)
      end
    end
  end
  reply[#reply + 1] = math.max(0, ttl)
end
return reply
