-- Decides on requests of one session, one after the other, and charges those that it grants. Times are microseconds.
--
-- KEYS[1] state   hash     what was taken: state, see the algorithms; and for each session its last command that was
--   granted anything
-- KEYS[2] updated string   the limit that was set for all, if any: algorithm, permits, window, burst, version
-- ARGV[1] session          the caller
-- ARGV[2] version          of this command: one that isn't newer than the last changes nothing
-- ARGV[3] stated           the limit, unless another was set for all: algorithm (bucket, fixed, sliding), permits that
--   come in a window, the window in which they come, burst (the most permits there can be at once)
-- ARGV[4] requests         of each: permits, how many more to take if they are there now, how long it would wait
-- Reply: {limit that was set for all or ''; and of each request: granted or 0, wait until they are there or -1 if
--   never, permits there now, until all are there, for how long what was granted is good}; {} the command is an old one
-- Idempotent by: session, version
local state, updated = KEYS[1], KEYS[2]
local session, version, stated, requests = ARGV[1], ARGV[2], ARGV[3], ARGV[4]

-- @include session/times
-- @include longest
-- @include bucket
-- @include fixed
-- @include sliding

-- A command that was granted all that it asked for, at once and no more, is known by its version; others by their
-- answer, too.
local known = redis.call('hmget', state, 'state', session)
local record, repeated = known[2], false
if record then
  local last, ended = record:match('^(%d+) %d+()')
  if last == version then
    if ended <= #record then
      return cmsgpack.unpack(record:sub(ended))
    end
    repeated = true
  elseif tonumber(last) > tonumber(version) then
    return {}
  end
end

local set = redis.call('get', updated)
local algorithm, permits, window, burst = (set or stated):match('^(%a+) (%d+) (%d+) (%d+)')
permits, window, burst = tonumber(permits), tonumber(window), tonumber(burst)
local time = redis.call('time')
local now = time[1] * 1000000 + time[2]

-- What was counted by another algorithm doesn't count.
local kindWas, expires, at, first, second, third, fourth, fifth
if known[1] then
  kindWas, expires, at, first, second, third, fourth, fifth = struct.unpack('>Bddddddd', known[1])
end
local kind = algorithm:byte()
if kindWas ~= kind then
  at = nil
end

local reply, size, granted, plain = { set or '', 0, 0, 0, 0, 0 }, 1, false, true
local function answer(wanted, got, wait, remaining, reset, good)
  granted = granted or got > 0
  if repeated then
    got, wait = wanted, 0
  elseif got ~= wanted or wait ~= 0 then
    plain = false
  end
  reply[size + 1], reply[size + 2], reply[size + 3] = got, wait < longest and wait or longest, remaining
  reply[size + 4], reply[size + 5] = reset < longest and reset or longest, good < longest and good or longest
  size = size + 5
end

-- Each algorithm answers all requests, charging them unless they are repeated; and says which numbers to keep, and for
-- how long at least and at most.
local decide = algorithm == 'bucket' and decideByBucket
  or algorithm == 'fixed' and decideByFixed
  or algorithm == 'sliding' and decideBySliding
local least, most
if decide then
  local limit = { permits = permits, window = window, burst = burst }
  least, most, first, second, third, fourth, fifth =
    decide(limit, now, requests, repeated, answer, at, first, second, third, fourth, fifth)
end

if granted then
  -- When the key expires. That isn't said anew by each command.
  local isToExpire = not expires or now + least > expires
  if isToExpire then
    expires = now + most
  end
  local numbers = struct.pack('>Bddddddd', kind, expires, now, first, second, third, fourth or 0, fifth or 0)
  local said = version .. ' ' .. time[1]
  redis.call('hset', state, 'state', numbers, session, plain and said or said .. cmsgpack.pack(reply))
  if isToExpire then
    redis.call('pexpire', state, math.max(1, math.ceil(math.min(longest, most) / 1000)))
  end
  local sessions = record and 0 or redis.call('hlen', state)
  if sessions >= 16 and math.frexp(sessions) == 0.5 then
    -- Sessions come and go; whenever their number has doubled, those that have gone are forgotten.
    local all = redis.call('hgetall', state)
    for i = 1, #all, 2 do
      local last = all[i] ~= 'state' and all[i + 1]:match('^%d+ (%d+)')
      if last and (time[1] - last) * 1000 > delayMillis then
        redis.call('hdel', state, all[i])
      end
    end
  end
end
return reply
