-- Takes the state of a session at a semaphore, and returns its account. Also ends sessions whose lease is over and
-- serves those that wait.
--
-- KEYS[1] semaphore hash   born: when it was made, us; protocol: of those who use it; available, permits, owned,
--   position, until; and each session's account, see accounts
-- KEYS[2] queue    zset    sessions that wait, by position
-- KEYS[3] sessions zset    sessions by the end of their lease, ms
-- KEYS[4] retired  zset    sessions whose account is closed, by when that may be forgotten, ms
-- ARGV[1] session          the caller
-- ARGV[2] epoch            of its account
-- ARGV[3] version          of this command: one that isn't newer than the last changes nothing
-- ARGV[4] fresh            1: it has heard nothing in this epoch yet, so the account may be opened; else 0
-- ARGV[5] returned         permits that it has given back in this epoch
-- ARGV[6] wanted           up to which number it wants to be granted permits in this epoch
-- ARGV[7] contributed      by how much it has enlarged the pool in this epoch, less than 0 if it has reduced it
-- ARGV[8] leave            1: it closes the account, 2: for good, since the session ends
-- ARGV[9] lease            ms
-- ARGV[10] permits         how many there are if this semaphore is new
-- ARGV[11] owned           1: permits of a session return when its lease is over, 0: they don't
-- ARGV[12] operation       number of what it wants to be done once, 0 for nothing
-- ARGV[13] verb            join: see whether there is such a semaphore; look: tell what is available; take: take so
--   many, if there are, though others wait; take_in_turn: the same unless other sessions wait; drain: take all; resize:
--   change the number of permits
-- ARGV[14] amount          what the verb is about
-- ARGV[15] knownGranted    what it was told that the account was granted in this epoch
-- ARGV[16] knownTaken      what it was told that operations have taken in this epoch
-- ARGV[17] knownBorn       of the semaphore that the session knows: no account is opened at another one. 0: at any
-- Reply: {status, granted in this epoch, available, permits, how many others wait, ms until the first lease of another
--   session is over or -1, number of the last operation, its result: permits taken, -1 if they weren't there, what was
--   available; returned, contributed, born}. Status 1: the account is open; 0: it is closed, and had that when it was;
--   -1: nothing is known of it; 2: the semaphore belongs to sessions and was not to, or the other way round. Or an
--   error, that the semaphore is one of another protocol
-- Idempotent by: session, epoch, version
local semaphore, queue, sessions, retired = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local session, epoch, version, fresh = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4] == '1'
local returned, wanted, contributed = tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])
local leave, lease, permits, owned = ARGV[8], tonumber(ARGV[9]), tonumber(ARGV[10]), ARGV[11]
local operation, verb, amount = tonumber(ARGV[12]), ARGV[13], tonumber(ARGV[14])
local knownGranted, knownTaken, knownBorn = tonumber(ARGV[15]), tonumber(ARGV[16]), ARGV[17]

-- @include session/clock
-- @include session/mailbox
-- @include session/protocol
-- @include accounts
-- @include permits
-- @include leases

local micros, millis = clock()
local known = redis.call('hmget', semaphore, 'available', 'permits', 'owned', 'until', 'born', session, 'protocol')
if known[1] and known[7] ~= protocolOf(session) then
  return refuse(known[7])
end
local available, isOwned, kept, born = tonumber(known[1]), owned == '1', tonumber(known[4] or 0), known[5]
if not available then
  -- New, or Redis has lost it.
  available, born = permits, string.format('%.0f', micros)
  redis.call('del', queue, sessions, retired)
  redis.call('hset', semaphore, 'born', born, 'protocol', protocolOf(session), 'available', permits,
    'permits', permits, 'owned', owned)
elseif known[3] ~= owned then
  return { 2, 0, available, tonumber(known[2]), 0, -1, 0, 0, 0, 0, tonumber(born) }
else
  permits = tonumber(known[2])
end
local pool = {
  semaphore = semaphore, queue = queue, sessions = sessions, retired = retired, session = session, millis = millis,
  available = available, permits = permits, isOwned = isOwned,
}

local ends = redis.call('zrange', sessions, 0, 1, 'withscores')
if ends[1] and tonumber(ends[2]) <= millis then
  endLeases(pool)
  ends = redis.call('zrange', sessions, 0, 1, 'withscores')
end
local account = known[6] and parsed(known[6])
if fresh and (knownBorn == '0' or knownBorn == born) then
  forget(pool)
  if account and account.epoch < epoch then
    if account.isOpen then
      close(pool, session, account)
    end
    account = nil
  end
  account = account or opened(epoch)
end

local line = redis.call('zcard', queue)
local isNews, place = false, 0
if account and account.epoch ~= epoch then
  account = nil
elseif account and account.isOpen and version > account.version then
  isNews = true
  account.version = version
  -- The account knows less than the session was told if Redis has gone back to an older copy of its data.
  local lost = math.max(0, knownGranted - account.granted) + math.max(0, knownTaken - account.taken)
  account.granted, account.taken = math.max(knownGranted, account.granted), math.max(knownTaken, account.taken)
  pool.available = pool.available + returned - account.returned - lost + contributed - account.contributed
  account.returned, account.contributed, account.wanted = returned, contributed, wanted
  if operation > account.operation then
    account.operation, account.result = operation, 0
    operate(pool, account, verb, amount)
  end
  if leave ~= '0' then
    close(pool, session, account, leave == '2')
    line = redis.call('zcard', queue)
  else
    -- A Redis whose memory is full refuses what takes some, unless the script has written before, as this does.
    redis.call('pexpire', sessions, dayMillis)
    if redis.call('zadd', sessions, millis + lease, session) == 1 then
      redis.call('pexpire', sessions, dayMillis)
      redis.call('zrem', retired, session)
    end
    local need = wanted - account.granted
    if line == 0 and need > 0 and need <= pool.available then
      pool.available = pool.available - need
      account.granted = wanted
    elseif line > 0 or need > 0 then
      place = enqueue(pool, account)
      line = redis.call('zcard', queue)
    end
  end
end

local served = {}
if line > 0 then
  if isNews then
    keep(pool, session, account)
  end
  served = serve(pool)
  account = account and accountOf(pool, session)
  line = redis.call('zcard', queue)
end
if isNews then
  keep(pool, session, account)
end
available, permits = pool.available, pool.permits
local free, total = string.format('%.0f', available), string.format('%.0f', permits)
redis.call('hset', semaphore, 'available', free, 'permits', total)
if kept - millis < dayMillis / 2 then
  redis.call('hset', semaphore, 'until', string.format('%.0f', millis + dayMillis))
  redis.call('pexpire', semaphore, dayMillis)
  redis.call('pexpire', queue, dayMillis)
  redis.call('pexpire', sessions, dayMillis)
  redis.call('pexpire', retired, dayMillis)
end

local isWaiting = account and account.isOpen and account.wanted > account.granted
for _, one in ipairs(served) do
  if one[1] ~= session then
    send(semaphore, one[1], one[2] .. semaphore)
  end
end
if isWaiting and place == 1 then
  tellHolders(pool)
elseif isWaiting and place == 2 then
  -- That is what the first one that waits, which may have permits, doesn't know.
  tellFirst(pool)
end

local reply = { -1, 0, available, permits, 0, -1, 0, 0, 0, 0, tonumber(born) }
if account then
  reply[1], reply[2], reply[7], reply[8] = 0, account.granted, account.operation, account.result
  reply[9], reply[10] = account.returned, account.contributed
end
if account and account.isOpen then
  reply[1], reply[5], reply[6] = 1, isWaiting and line - 1 or line, firstEnd(pool, ends)
end
return reply
