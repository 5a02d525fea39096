-- Gives grantHead: grants the lock to the head of its queue.

-- @include session/mailbox
-- @include living
-- @include give
-- @include admission
-- @include conditions
-- @include run
-- @include demand

-- Tells a session that it was granted the lock.
local function tellGranted(name, grant)
  -- The name is appended, since format ends a string at its first zero byte.
  local sequence, value, last, number = grant.sequence, grant.value, grant.last, grant.number
  local flags = grant.behind + (name.hasConditions and 2 or 0)
  local text = string.format('g %s %.0f %.0f %d %.0f %s ', sequence, value, name.micros, flags, last, number)
  send(name.lock, grant.session, text .. name.lock)
end

-- So many tickets are looked at together.
local mostDropped = 500

-- Drops the tickets of dead sessions in front of all others. They may have been signalled: that signal must not be lost
-- with them.
local function dropDead(name)
  local alive, dead = {}, 0
  repeat
    dead = 0
    for i, ticket in ipairs(redis.call('zrange', name.queue, 0, mostDropped - 1)) do
      local session = string.match(ticket, '^[^:]+')
      if alive[session] == nil then
        alive[session] = isLiving(name.waiters, session, name.micros)
      end
      if alive[session] then
        break
      end
      dead = i
    end
    if dead > 0 then
      redis.call('zpopmin', name.queue, dead)
    end
  until dead < mostDropped
  signalAll(name)
  enqueueAdmitted(name)
end

-- Grants the lock, which is free or shared, to the first ticket whose session is alive; if that only reads, then also
-- to those behind it that only read. Tells these sessions, except the one that learns it from the reply. Tickets of
-- dead sessions are dropped on the way. If readers get in and the queue is empty, the guest joins them: a request of
-- the calling session that doesn't queue. Returns the field of the new owner, or nil.
local function grantHead(name, informed, isShared, guest)
  local granted, dropped = {}, false
  while true do
    -- Only readers join readers.
    local isJoining = isShared or #granted > 0
    local head
    if isJoining then
      head = redis.call('zrange', name.queue, 0, 0)[1]
    else
      head = redis.call('zpopmin', name.queue)[1]
    end
    if not head then
      redis.call('del', name.waiters)
      if isJoining and guest and redis.call('hexists', name.lock, name.session .. ':r') == 0 then
        give(name, name.session, guest.sequence, guest.lease, true)
      end
      break
    end
    local session, sequence, lease, kind = string.match(head, '^([^:]+):(%d+):(%d+):?(%-?%w*)$')
    local isAlive = isLiving(name.waiters, session, name.micros)
    if isJoining then
      -- A session that reads already has given up one of the two, and is about to say which.
      if isAlive and (kind ~= 'r' or redis.call('hexists', name.lock, session .. ':r') == 1) then
        break
      end
      redis.call('zrem', name.queue, head)
    end
    if isAlive then
      local value = give(name, session, sequence, lease, kind == 'r')
      local field, number = session .. ':' .. (kind == 'r' and kind or sequence), tonumber(kind) and kind or '0'
      granted[#granted + 1] =
        { session = session, sequence = sequence, value = value, field = field, number = number }
      if kind ~= 'r' then
        break
      end
    else
      dropped = true
      dropDead(name)
    end
  end
  for _, grant in ipairs(granted) do
    grant.last, grant.behind = runOf(name.queue, grant.session)
  end
  if granted[1] and granted[1].last == 0 and granted[1].behind == 0 then
    redis.call('del', name.waiters)
  end
  for _, grant in ipairs(granted) do
    if grant.session ~= informed then
      tellGranted(name, grant)
    end
  end
  if isShared and dropped and redis.call('exists', name.queue) == 0 then
    demand(name.lock, name.session, 'n')
  end
  return granted[1] and granted[1].field
end
