-- Gives forget, endLeases, tellHolders, tellFirst and firstEnd: the sessions of a semaphore and their leases.

-- @include session/mailbox
-- @include accounts

-- Forgets accounts that were closed long ago.
local function forget(pool)
  for _, id in ipairs(redis.call('zrangebyscore', pool.retired, '-inf', pool.millis, 'limit', 0, batchSize)) do
    redis.call('hdel', pool.semaphore, id)
    redis.call('zrem', pool.retired, id)
  end
end

-- Closes the accounts of sessions whose lease is over. The caller is alive, late as it may be.
local function endLeases(pool)
  for _, id in ipairs(redis.call('zrangebyscore', pool.sessions, '-inf', pool.millis, 'limit', 0, batchSize)) do
    if id ~= pool.session then
      local account = accountOf(pool, id)
      if account and account.isOpen then
        close(pool, id, account, false)
      else
        redis.call('zrem', pool.sessions, id)
      end
    end
  end
end

-- Tells sessions that have permits that others wait.
local function tellHolders(pool)
  local ids = redis.call('zrange', pool.sessions, 0, batchSize - 1)
  for _, id in ipairs(ids) do
    local account = id ~= pool.session and accountOf(pool, id)
    if account and account.granted + account.taken > account.returned then
      send(pool.semaphore, id, 'd 1 ' .. pool.semaphore)
    end
  end
end

-- Tells the session at the head of the queue that others wait.
local function tellFirst(pool)
  local head = redis.call('zrange', pool.queue, 0, 0)[1]
  if head ~= pool.session then
    send(pool.semaphore, head, 'd 1 ' .. pool.semaphore)
  end
end

-- When the first lease of another session is over: then there may be more. In ms from now, or -1.
local function firstEnd(pool, ends)
  local i = ends[1] == pool.session and 3 or 1
  return ends[i] and math.max(1, tonumber(ends[i + 1]) - pool.millis + 1) or -1
end
