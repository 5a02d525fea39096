-- Decides on requests of one session, one after the other, and charges those that it grants. Times are microseconds.
--
-- KEYS[1] state   hash     what was taken: state, see the algorithms; and for each session its last command that was granted anything
-- KEYS[2] updated string   the limit that was set for all, if any: algorithm, permits, window, burst
-- ARGV[1] session          the caller
-- ARGV[2] version          of this command: one that isn't newer than the last changes nothing
-- ARGV[3] algorithm        of the limit, unless another was set for all: bucket, fixed, sliding
-- ARGV[4] permits          that come in a window
-- ARGV[5] window           in which they come
-- ARGV[6] burst            the most permits there can be at once
-- ARGV[7] requests         of each: permits, how many more to take if they are there now, how long it would wait
-- Reply: {limit that was set for all or ''; and of each request: granted or 0, wait until they are there or -1 if never, permits there now,
--   until all are there, for how long what was granted is good}; {} the command is an old one
-- Idempotent by: session, version
local state, updated = KEYS[1], KEYS[2]
local session, version, algorithm = ARGV[1], ARGV[2], ARGV[3]
local permits, window, burst, requests = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6]), ARGV[7]

-- So long at least no command can be on its way, in seconds.
local memory = 300

local known = redis.call('hmget', state, 'state', session)
if known[2] then
  local last, ended = known[2]:match('^(%d+) %d+ ()')
  if last == version then
    return cmsgpack.unpack(known[2]:sub(ended))
  elseif tonumber(last) > tonumber(version) then
    return {}
  end
end

local set = redis.call('get', updated)
if set then
  algorithm, permits, window, burst = set:match('^(%a+) (%d+) (%d+) (%d+)$')
  permits, window, burst = tonumber(permits), tonumber(window), tonumber(burst)
end
local time = redis.call('time')
local now = time[1] * 1000000 + time[2]

-- What was counted by another algorithm doesn't count.
local numbers = known[1] and { cmsgpack.unpack(known[1]) } or {}
if numbers[1] ~= algorithm then
  numbers = {}
end

-- What takes longer than 285 years is told as that, so that it is a whole number to everybody.
local longest = 9007199254740992

-- Each defines charge(wanted, more, patience), which returns granted and wait; remaining(); reset(); good(); saved(expires), which returns
-- what to keep; and kept(), how long that has to be kept at least, and how long at most.
local charge, remaining, reset, good, saved, kept
-- @include bucket
-- @include fixed
-- @include sliding

local reply, granted = { set or '' }, false
for wanted, more, patience in requests:gmatch('(%d+) (%d+) (%d+)') do
  wanted = tonumber(wanted)
  local got, wait = 0, -1
  if wanted <= burst then
    got, wait = charge(wanted, tonumber(more), tonumber(patience))
  end
  granted = granted or got > 0
  local size = #reply
  reply[size + 1], reply[size + 2], reply[size + 3] = got, math.min(longest, wait), remaining()
  reply[size + 4], reply[size + 5] = math.min(longest, reset()), math.min(longest, good())
end

if granted then
  -- When the key expires. That isn't said anew by each command.
  local expires = numbers[2]
  local least, most = kept()
  local isToExpire = not expires or now + least > expires
  if isToExpire then
    expires = now + most
  end
  redis.call('hset', state, 'state', saved(expires), session, version .. ' ' .. time[1] .. ' ' .. cmsgpack.pack(reply))
  if isToExpire then
    redis.call('pexpire', state, math.max(1, math.ceil(math.min(longest, most) / 1000)))
  end
  local size = known[2] and 0 or redis.call('hlen', state)
  if size >= 16 and math.frexp(size) == 0.5 then
    -- Sessions come and go; whenever their number has doubled, those that have gone are forgotten.
    local all = redis.call('hgetall', state)
    for i = 1, #all, 2 do
      local last = all[i] ~= 'state' and all[i + 1]:match('^%d+ (%d+)')
      if last and time[1] - last > memory then
        redis.call('hdel', state, all[i])
      end
    end
  end
end
return reply
