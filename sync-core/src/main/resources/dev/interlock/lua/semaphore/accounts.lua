-- Included by tell; expects the locals semaphore, queue, sessions, retired, session, epoch, millis, day, memory, most, mostPermits,
-- available, permits, isOwned, verb and amount.
--
-- The account of a session is a field of the semaphore's hash, its name the session's id:
-- `<epoch>:<version>:<granted>:<taken>:<returned>:<wanted>:<contributed>:<operation>:<result>:<o or c>`, open or closed. All of it but
-- `wanted` only grows, within an epoch. The session has `granted + taken - returned` permits: granted because it queued, or taken by
-- an operation. It waits as long as `wanted` is more than `granted`.

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

local function accountOf(id)
  local text = redis.call('hget', semaphore, id)
  return text and parsed(text)
end

local function opened()
  local account = parsed('0:0:0:0:0:0:0:0:0:o')
  account.epoch = epoch
  return account
end

local function keep(id, account)
  local fields = {}
  for i, sum in ipairs(sums) do
    fields[i] = string.format('%.0f', account[sum])
  end
  fields[#fields + 1] = account.isOpen and 'o' or 'c'
  redis.call('hset', semaphore, id, table.concat(fields, ':'))
end

-- Closes an account. It is remembered, since a command that is delayed on its way must not open it again.
local function close(id, account)
  if isOwned then
    available = available + account.granted + account.taken - account.returned
  end
  account.isOpen = false
  keep(id, account)
  redis.call('zrem', queue, id)
  redis.call('zrem', sessions, id)
  redis.call('zadd', retired, millis + memory, id)
  redis.call('pexpire', retired, day)
end

-- Forgets accounts that were closed long ago.
local function forget()
  for _, id in ipairs(redis.call('zrangebyscore', retired, '-inf', millis, 'limit', 0, most)) do
    redis.call('hdel', semaphore, id)
    redis.call('zrem', retired, id)
  end
end

-- Closes the accounts of sessions whose lease is over. The caller is alive, late as it may be.
local function endLeases()
  for _, id in ipairs(redis.call('zrangebyscore', sessions, '-inf', millis, 'limit', 0, most)) do
    if id ~= session then
      local account = accountOf(id)
      if account and account.isOpen then
        close(id, account)
      else
        redis.call('zrem', sessions, id)
      end
    end
  end
end

-- Does once what an account asks for.
local function operate(account)
  if verb == 'look' then
    account.result = available
  elseif verb == 'take' then
    account.result = -1
    if available >= amount then
      account.result = amount
      account.taken = account.taken + amount
      available = available - amount
    end
  elseif verb == 'drain' then
    account.result = available
    account.taken = account.taken + math.max(0, available)
    available = 0
  elseif verb == 'resize' then
    available = math.min(mostPermits, available + amount - permits)
    permits = amount
  end
end

-- Has the caller wait at the end of the queue if it wants more than it was granted. If it waits already it keeps its place. Returns
-- whether it is the first who waits.
local function enqueue(account)
  if account.wanted <= account.granted then
    redis.call('zrem', queue, session)
  elseif not redis.call('zscore', queue, session) then
    redis.call('zadd', queue, redis.call('hincrby', semaphore, 'position', 1), session)
    if redis.call('zcard', queue) == 1 then
      redis.call('pexpire', queue, day)
      return true
    end
  end
  return false
end

-- Grants what there is, from the head of the queue on. Nobody is served before those in front of him. Returns the messages.
local function serve()
  local served = {}
  for _ = 1, most do
    local head = redis.call('zrange', queue, 0, 0)[1]
    local account = head and accountOf(head)
    if not head then
      break
    end
    if not account or not account.isOpen then
      redis.call('zrem', queue, head)
    elseif head ~= session and tonumber(redis.call('zscore', sessions, head) or 0) <= millis then
      close(head, account)
    else
      local need = account.wanted - account.granted
      if need > available then
        break
      end
      available = available - math.max(0, need)
      account.granted = math.max(account.granted, account.wanted)
      keep(head, account)
      redis.call('zrem', queue, head)
      served[#served + 1] = { head, string.format('b %.0f %.0f ', account.epoch, account.granted) }
    end
  end
  return served
end

-- Tells those who have permits that somebody waits.
local function tellHolders()
  local ids = redis.call('zrange', sessions, 0, most - 1)
  for _, id in ipairs(ids) do
    local account = id ~= session and accountOf(id)
    if account and account.granted + account.taken > account.returned then
      redis.call('publish', 'interlock:mailbox:' .. id, 'd 1 ' .. semaphore)
    end
  end
end

-- When the first lease of another session is over: then there may be more. In ms from now, or -1.
local function firstEnd(ends)
  local i = ends[1] == session and 3 or 1
  return ends[i] and math.max(1, tonumber(ends[i + 1]) - millis + 1) or -1
end
