-- Gives dayMillis, batchSize, parsed, accountOf, opened, keep and close: the accounts of a semaphore.
--
-- The account of a session is a field of the semaphore's hash, its name the session's id:
-- `<epoch>:<version>:<granted>:<taken>:<returned>:<wanted>:<contributed>:<operation>:<result>:<o or c>`, open or
-- closed. All of it but `wanted` only grows, within an epoch. The session has `granted + taken - returned` permits:
-- granted because it queued, or taken by an operation. It waits as long as `wanted` is more than `granted`.
--
-- The functions take a record of the semaphore: its keys, the calling session, the time, and how many permits there
-- are; of these, `available` and `permits` are changed by them.

-- @include session/times

local dayMillis = 86400000
-- What one command does for others is bounded; the next one goes on.
local batchSize = 64

-- The numbers of it, in this order.
local sums =
  { 'epoch', 'version', 'granted', 'taken', 'returned', 'wanted', 'contributed', 'operation', 'result' }

local function parsed(text)
  local account, i = {}, 0
  for number in string.gmatch(text, '%-?%d+') do
    i = i + 1
    account[sums[i]] = tonumber(number)
  end
  account.isOpen = string.sub(text, -1) == 'o'
  return account
end

local function accountOf(pool, id)
  local text = redis.call('hget', pool.semaphore, id)
  return text and parsed(text)
end

local function opened(epoch)
  local account = parsed('0:0:0:0:0:0:0:0:0:o')
  account.epoch = epoch
  return account
end

local function keep(pool, id, account)
  local fields = {}
  for i, sum in ipairs(sums) do
    fields[i] = string.format('%.0f', account[sum])
  end
  fields[#fields + 1] = account.isOpen and 'o' or 'c'
  redis.call('hset', pool.semaphore, id, table.concat(fields, ':'))
end

-- Closes an account. It is remembered, since a command that is delayed on its way must not open it again; and for a day
-- if the session may go on, since it goes over to another account with what this one hasn't counted.
local function close(pool, id, account, ends)
  if pool.isOwned then
    pool.available = pool.available + account.granted + account.taken - account.returned
  end
  account.isOpen = false
  keep(pool, id, account)
  redis.call('zrem', pool.queue, id)
  redis.call('zrem', pool.sessions, id)
  redis.call('zadd', pool.retired, pool.millis + (ends and delayMillis or dayMillis), id)
  redis.call('pexpire', pool.retired, dayMillis)
end
