-- Decides on requests of one session, one after the other, and charges those that it grants. Times are microseconds.
--
-- Sessions may state different limits, and update sets others. Each limit counts by itself, and what one of them grants
-- is charged to all that are in use. One that hasn't counted yet begins with what another one has.
--
-- KEYS[1] state   hash     what was taken: counts, see below; and for each session its last command that was granted
--   anything
-- KEYS[2] updated string   the limit that was set for all, if any: algorithm, permits, window, burst, version
-- ARGV[1] session          the caller
-- ARGV[2] version          of this command: one that isn't newer than the last changes nothing
-- ARGV[3] stated           the limit, unless another was set for all: algorithm (bucket, fixed, sliding), permits that
--   come in a window, the window in which they come, burst (the most permits there can be at once)
-- ARGV[4] requests         of each: permits, how many more to take if they are there now, how long it would wait
-- Reply: {limit that was set for all or ''; and of each request: granted or 0, wait until they are there or -1 if
--   never, permits there now, until all are there, for how long what was granted is good}; {} the command is an old
--   one. Or an error, that sessions of another protocol have counted
-- Idempotent by: session, version
local state, updated = KEYS[1], KEYS[2]
local session, version, stated, requests = ARGV[1], ARGV[2], ARGV[3], ARGV[4]

-- @include session/times
-- @include session/protocol
-- @include longest
-- @include bucket
-- @include counts
-- @include fixed
-- @include sliding

-- A command that was granted all that it asked for, at once and no more, is known by its version; others by their
-- answer, too.
local known = redis.call('hmget', state, 'counts', session)
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
local time = redis.call('time')
local now = time[1] * 1000000 + time[2]
local reply, size, granted, plain = { set or '', 0, 0, 0, 0, 0 }, 1, false, true

local limit = {
  kind = algorithm == 'bucket' and 1 or algorithm == 'fixed' and 2 or algorithm == 'sliding' and 3,
  permits = tonumber(permits), window = tonumber(window), burst = tonumber(burst),
}
if not limit.kind then
  -- Only a later version knows it.
  return reply
end

local at, others, expires, first, second, third, log, head, stale = now, {}, nil, nil, nil, nil, nil, 1, false
local bytes = known[1]
if bytes then
  local kind, entries, used, isPermits, isWindow, ends
  kind, entries, at, expires, isPermits, isWindow, first, second, third, ends = struct.unpack('>BHddddddd', bytes)
  if kind >= 16 then
    return refuse(math.floor(kind / 16) + 1)
  end
  if #bytes < ends + 16 * entries and kind == limit.kind and isPermits == limit.permits
    and isWindow == limit.window and (kind > 1 or second == limit.burst) then
    log, head = bytes, ends
  else
    first, second, third, log, used, others = recallCounts(bytes, at, limit, now, set)
    stale = not set and not (used and (now - used) * 2 < limit.window * limit.burst / limit.permits)
  end
end
local countBy = limit.kind == 1 and countByBucket or limit.kind == 2 and countByFixed or countBySliding
local decide, _, kept = countBy(limit, now, at, first, second, third, log, head)

for wanted, more, patience in requests:gmatch('(%d+) (%d+) (%d+)') do
  wanted = tonumber(wanted)
  -- Of a repeat, there is only to say how things stand.
  local got, wait, free, reset, good = decide(repeated and 2 * longest or wanted, tonumber(more), tonumber(patience))
  if repeated then
    got, wait = wanted, 0
  end
  if got > 0 and not repeated then
    granted = true
    for _, count in ipairs(others) do
      count.charge(got, wait)
    end
  end
  plain = plain and got == wanted and wait == 0
  reply[size + 1], reply[size + 2], reply[size + 3] = got, wait < longest and wait or longest, free
  reply[size + 4], reply[size + 5] = reset < longest and reset or longest, good < longest and good or longest
  size = size + 5
end

if granted or stale then
  local least, most, rest = 0, 0, ''
  least, most, first, second, third, log = kept()
  for _, count in ipairs(others) do
    local leastOfThis, mostOfThis, a, b, c, entries = count.kept()
    least, most = math.max(least, leastOfThis), math.max(most, mostOfThis)
    rest = rest .. countAsBytes(count, count.used, 0, a, b, c, entries)
  end
  -- When the key expires. That isn't said anew by each command.
  local isToExpire = not expires or now + least > expires
  if isToExpire then
    expires = now + most
  end
  local counts = countAsBytes(limit, now, expires, first, second, third, log) .. rest
  if granted then
    local said = version .. ' ' .. time[1]
    redis.call('hset', state, 'counts', counts, session, plain and said or said .. cmsgpack.pack(reply))
  else
    redis.call('hset', state, 'counts', counts)
  end
  if isToExpire then
    redis.call('pexpire', state, math.max(1, math.ceil(math.min(longest, most) / 1000)))
  end
  local sessions = (record or not granted) and 0 or redis.call('hlen', state)
  if sessions >= 16 and math.frexp(sessions) == 0.5 then
    -- Sessions come and go; whenever their number has doubled, those that have gone are forgotten.
    local all = redis.call('hgetall', state)
    for i = 1, #all, 2 do
      local last = all[i] ~= 'counts' and all[i + 1]:match('^%d+ (%d+)')
      if last and (time[1] - last) * 1000 > delayMillis then
        redis.call('hdel', state, all[i])
      end
    end
  end
end
return reply
