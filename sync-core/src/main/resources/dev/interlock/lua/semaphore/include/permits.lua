-- Gives operate, enqueue and serve: the permits of a semaphore and the queue for them.

-- @include accounts

-- No thread gets more at once.
local mostPermits = 2147483647

local function doOthersWait(pool)
  local first = redis.call('zrange', pool.queue, 0, 1)
  return first[2] ~= nil or first[1] ~= nil and first[1] ~= pool.session
end

-- Does once what an account asks for.
local function operate(pool, account, verb, amount)
  if verb == 'look' then
    account.result = pool.available
  elseif verb == 'take' or verb == 'take_in_turn' then
    account.result = -1
    if pool.available >= amount and (verb == 'take' or not doOthersWait(pool)) then
      account.result = amount
      account.taken = account.taken + amount
      pool.available = pool.available - amount
    end
  elseif verb == 'drain' then
    account.result = math.min(mostPermits, pool.available)
    account.taken = account.taken + math.max(0, account.result)
    pool.available = pool.available - account.result
  elseif verb == 'resize' then
    pool.available = pool.available + amount - pool.permits
    pool.permits = amount
  end
end

-- Has the caller wait at the end of the queue if it wants more than it was granted. If it waits already it keeps its
-- place. Returns as which it comes to wait, 0 if it doesn't.
local function enqueue(pool, account)
  if account.wanted <= account.granted then
    redis.call('zrem', pool.queue, pool.session)
  elseif not redis.call('zscore', pool.queue, pool.session) then
    redis.call('zadd', pool.queue, redis.call('hincrby', pool.semaphore, 'position', 1), pool.session)
    local place = redis.call('zcard', pool.queue)
    if place == 1 then
      redis.call('pexpire', pool.queue, dayMillis)
    end
    return place
  end
  return 0
end

-- Grants what there is, from the head of the queue on, strictly in its order. Returns the messages.
local function serve(pool)
  local served = {}
  for _ = 1, batchSize do
    local head = redis.call('zrange', pool.queue, 0, 0)[1]
    local account = head and accountOf(pool, head)
    if not head then
      break
    end
    if not account or not account.isOpen then
      redis.call('zrem', pool.queue, head)
    elseif head ~= pool.session and tonumber(redis.call('zscore', pool.sessions, head) or 0) <= pool.millis then
      close(pool, head, account, false)
    else
      local need = account.wanted - account.granted
      if need > pool.available then
        break
      end
      pool.available = pool.available - math.max(0, need)
      account.granted = math.max(account.granted, account.wanted)
      keep(pool, head, account)
      redis.call('zrem', pool.queue, head)
      served[#served + 1] = { head, string.format('b %.0f %.0f ', account.epoch, account.granted) }
    end
  end
  return served
end
