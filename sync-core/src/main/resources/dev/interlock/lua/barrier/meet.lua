-- Takes the state of a session at a barrier, counts its threads, and returns the state of the barrier. The session
-- speaks of its threads in one generation; if that isn't the current one, nothing is counted for it.
--
-- KEYS[1] barrier  hash  protocol: of its members; parties, generation, state (open, broken, tripping), arrived,
--   tripper, lost; and the records of members, as include/records has them
-- KEYS[2] members  zset  sessions that hold the barrier, by the end of their lease, ms
-- KEYS[3] gone     hash  records of sessions that are no members any more
-- KEYS[4] ending   zset  these sessions, by when their record is dropped, ms
-- ARGV[1] session        the caller
-- ARGV[2] version        of this command: it only grows
-- ARGV[3] lease          ms
-- ARGV[4] parties        how many arrivals trip a generation
-- ARGV[5] membership     join; rejoin, after Redis had forgotten it; stay; leave
-- ARGV[6] generation     the one that its threads are in
-- ARGV[7] arrivals       how many of them have come to that in all
-- ARGV[8] acts           1 if the last one to come has an action to run before the generation trips
-- ARGV[9] wish           for that generation: none; break, unless it trips; trip, break or renew after the action:
--   acted, failed, renew
-- ARGV[10] resets        the latest reset of this session; one that is already done isn't done again
-- ARGV[11] confirmed     the latest one that it knows to be done
-- Reply: {status, generation, state, arrived, ms until the lease of another member is over (while one trips it, of that
--   one), then of the caller's record: generation, outcome, resets, place…}. Status: 0 no member any more, 1 member, 2
--   has left, 3 other parties, which come second then. State: 0 open, 1 broken, 2 tripping, 3 tripping by this session.
--   No other member: -1. Or an error, that its members have another protocol.
-- Idempotent by: session, version
local barrier, members, gone, ending = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local session, version, lease, parties = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local membership, generation, arrivals, acts = ARGV[5], ARGV[6], ARGV[7], ARGV[8]
local wish, resets, confirmed = ARGV[9], ARGV[10], ARGV[11]

-- @include session/times
-- @include session/clock
-- @include session/mailbox
-- @include session/protocol
-- @include records

local micros, millis = clock()
local retention = lease + delayMillis
local name = { barrier = barrier, gone = gone, ending = ending, millis = millis, retention = retention }

local size, current, state, arrived, tripper, lost, protocol =
  unpack(redis.call('hmget', barrier, 'parties', 'generation', 'state', 'arrived', 'tripper', 'lost', 'protocol'))
if size and protocol ~= protocolOf(session) then
  return refuse(protocol)
end
arrived = tonumber(arrived or 0)
local own = recordOf(name, session)
local leaseEnd = tonumber(redis.call('zscore', members, session) or 0)
local letters = {}
if leaseEnd > 0 then
  -- A Redis whose memory is full refuses what takes some, unless the script has written before, as this does.
  redis.call('pexpire', members, retention)
end

-- Tells all sessions that have arrived in the current generation what became of it, and those that wait for its end
-- that it has ended.
local function close(outcome, ownOutcome)
  for _, member in ipairs(redis.call('zrange', members, 0, -1)) do
    local record = member ~= session and recordOf(name, member)
    if record and (record.calling == '1' or (record.generation == current and record.outcome == '0')) then
      record.calling = '0'
      if record.generation == current and record.outcome == '0' then
        record.outcome = outcome
      end
      redis.call('hset', barrier, member, textOf(record))
      letters[#letters + 1] = { member, 't ' .. current .. ' ' .. outcome .. ' ' .. barrier }
    end
  end
  if own and own.generation == current and own.outcome == '0' then
    own.outcome = ownOutcome
  end
  arrived, tripper = 0, ''
end

local function breakIt(ownOutcome)
  close('2', ownOutcome)
  state = 'broken'
end

local function begin()
  current = string.format('%.0f', current + 1)
  state = 'open'
end

-- Removes dead members. A generation trips without sessions that have died since they arrived; other dead ones break
-- the next generation.
local function bury()
  local tripperEnd = state == 'tripping' and tonumber(redis.call('zscore', members, tripper) or 0)
  if tripperEnd and tripperEnd >= millis then
    return
  end
  local dead = redis.call('zrangebyscore', members, '-inf', '(' .. string.format('%.0f', millis), 'limit', 0, 100)
  if #dead == 0 and not tripperEnd then
    return
  end
  if state ~= 'broken' then
    breakIt('2')
  end
  for _, member in ipairs(dead) do
    local record = member == session and own or recordOf(name, member)
    redis.call('zrem', members, member)
    if record then
      retire(name, member, textOf(record))
    end
    if member == session then
      leaseEnd = 0
    end
  end
end

-- Publishes last: an error in between leaves what was written.
local function answer(status)
  if size and redis.call('zcard', members) == 0 then
    redis.call('del', barrier)
  elseif size then
    redis.call('hset', barrier, 'protocol', protocolOf(session), 'parties', size, 'generation', current,
      'state', state, 'arrived', arrived, 'tripper', tripper, 'lost', lost)
    if math.min(redis.call('pttl', barrier), redis.call('pttl', members)) < retention - lease / 2 then
      redis.call('pexpire', barrier, retention)
      redis.call('pexpire', members, retention)
    end
  end
  for _, letter in ipairs(letters) do
    send(barrier, letter[1], letter[2])
  end
  local due = -1
  local earliest = state == 'tripping' and { tripper, redis.call('zscore', members, tripper) }
    or redis.call('zrange', members, 0, 1, 'withscores')
  for i = 1, #earliest, 2 do
    if due < 0 and earliest[i] ~= session then
      due = math.max(0, earliest[i + 1] - millis)
    end
  end
  local code = state == 'open' and 0 or 1
  if state == 'tripping' then
    code = tripper == session and 3 or 2
  end
  local reply = { status, tonumber(current or 0), code, arrived, due, 0, 0, 0 }
  if own then
    reply[6], reply[7], reply[8] = tonumber(own.generation), tonumber(own.outcome), tonumber(own.resets)
    for place in string.gmatch(own.places, '%d+') do
      reply[#reply + 1] = tonumber(place)
    end
  end
  return reply
end

dropExpired(name)
if size then
  bury()
end
if own and tonumber(version) <= tonumber(own.version) then
  return answer(leaseEnd > 0 and 1 or 0)
end
-- The session may know of a later generation than Redis, which then has gone back to an older copy of its data.
local isAhead = size and tonumber(generation) > tonumber(current)
if membership == 'stay' and (leaseEnd == 0 or isAhead) then
  if isAhead then
    -- Threads that Redis counts in its generation have gone with that.
    if state ~= 'broken' then
      breakIt('2')
    end
    current, lost = generation, 1
  end
  return answer(0)
end
if size and size ~= parties and membership ~= 'leave' then
  local reply = answer(3)
  reply[2] = tonumber(size)
  return reply
end

local unknown = not own
if unknown then
  own = {}
  own.generation, own.outcome, own.resets, own.places = '0', '0', confirmed, ''
end
own.version, own.calling = version, '0'

if membership == 'leave' then
  local arrivedHere = leaseEnd > 0 and own.generation == current and own.outcome == '0'
  if (arrivedHere and state == 'open') or (state == 'tripping' and tripper == session) then
    breakIt('2')
  end
  redis.call('zrem', members, session)
  retire(name, session, textOf(own))
  return answer(2)
end

if not size then
  size, arrived, tripper, lost = parties, 0, '', membership == 'rejoin' and 1 or 0
  current = string.format('%.0f', math.max(micros, generation + 1))
  state = membership == 'rejoin' and 'broken' or 'open'
elseif membership == 'rejoin' then
  local forgotten = own.generation == current and own.outcome == '0'
  if unknown and lost ~= '1' then
    -- The first session after the loss didn't know of it.
    lost, forgotten = 1, true
  end
  if forgotten then
    breakIt('2')
  end
end
if leaseEnd == 0 then
  redis.call('hdel', gone, session)
  redis.call('zrem', ending, session)
end
redis.call('zadd', members, string.format('%.0f', millis + lease), session)

if generation == current and state == 'open' then
  if own.generation ~= current and (wish == 'break' or tonumber(arrivals) > 0) then
    own.generation, own.outcome, own.places = current, '0', ''
  end
  local places = {}
  for place in string.gmatch(own.places, '%d+') do
    places[#places + 1] = place
  end
  for _ = #places + 1, math.min(tonumber(arrivals), #places + size - arrived) do
    arrived = arrived + 1
    places[#places + 1] = string.format('%.0f', arrived)
  end
  own.places = table.concat(places, ',')
  if arrived == tonumber(size) then
    if acts == '1' then
      state, tripper = 'tripping', session
    else
      close('1', '1')
      begin()
    end
  elseif wish == 'break' then
    breakIt('3')
  end
elseif generation == current and state == 'tripping' and tripper == session then
  if wish == 'acted' then
    close('1', '1')
    begin()
  elseif wish == 'failed' then
    breakIt('2')
  elseif wish == 'renew' then
    breakIt('2')
    begin()
  end
end
if tonumber(resets) > tonumber(own.resets) and state ~= 'tripping' then
  close('2', '2')
  begin()
  own.resets = resets
end
if state == 'tripping' then
  own.calling = '1'
end
redis.call('hset', barrier, session, textOf(own))
return answer(1)
