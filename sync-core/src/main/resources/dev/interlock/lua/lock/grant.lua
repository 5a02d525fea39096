-- Included by the scripts of the lock, after give and conditions; expects the locals lock, queue, waiters, turns,
-- hasConditions and micros.

-- Consecutive tickets of one session are a run: so many at most are served on the tenure of the one before them.
local maxRun = 32

-- The last sequence of the run which a session's tickets form at the head of the queue, 0 if there is none; and whether others
-- may stand behind it, 1 or 0.
local function runOf(session)
  local last, behind = 0, 0
  local line = redis.call('zrange', queue, 0, maxRun - 1)
  for _, ticket in ipairs(line) do
    if string.sub(ticket, 1, #session + 1) ~= session .. ':' then
      behind = 1
      break
    end
    last = tonumber(string.match(ticket, '^[^:]+:(%d+)'))
  end
  return last, #line == maxRun and 1 or behind
end

-- The session of an owner, a reader or a ticket, if it is one of ours.
local function ownerOf(text)
  return string.match(text, '^(interlock%-[^:]+):')
end

-- Tells the owner, or all readers, that somebody waits: `d`; that nobody does any more: `n`; or that somebody would have had
-- it if it were idle: `i`.
local function demand(kind)
  local fields = redis.call('hgetall', lock)
  for i = 1, #fields, 2 do
    local id, sequence = ownerOf(fields[i]), string.match(fields[i], ':(%d+)$') or fields[i + 1]
    -- Those of the same session wait for each other in their JVM.
    if id and (kind ~= 'd' or id ~= session) then
      redis.call('publish', 'interlock:mailbox:' .. id, kind .. ' ' .. sequence .. ' ' .. lock)
    end
  end
end

-- Tells a session that it was granted the lock.
local function tellGranted(grant)
  -- The name is appended, since format ends a string at its first zero byte.
  local flags, last = grant.behind + (hasConditions and 2 or 0), grant.last
  local text = string.format('g %s %.0f %.0f %d %.0f %s ', grant.sequence, grant.value, micros, flags, last, grant.number)
  redis.call('publish', 'interlock:mailbox:' .. grant.session, text .. lock)
end

-- Grants the lock, which is free or shared, to the first ticket whose session is alive; if that only reads, then also to those
-- behind it that only read. Tells these sessions, unless it is the caller, who learns it from the reply. Tickets of dead
-- sessions are dropped on the way. If readers get in and nobody is left, the guest joins them: a request of the script's
-- session that doesn't queue. Returns the field of the new owner, or nil.
local function grantHead(caller, isShared, guest)
  local granted, dropped = {}, false
  while true do
    -- Only readers join readers.
    local isJoining = isShared or #granted > 0
    local head
    if isJoining then
      head = redis.call('zrange', queue, 0, 0)[1]
    else
      head = redis.call('zpopmin', queue)[1]
    end
    if not head then
      redis.call('del', waiters)
      if isJoining and guest and redis.call('hexists', lock, session .. ':r') == 0 then
        give(session, guest.sequence, guest.lease, true)
      end
      break
    end
    local session, sequence, lease, kind = string.match(head, '^([^:]+):(%d+):(%d+):?(%-?%w*)$')
    local isAlive = tonumber(redis.call('zscore', waiters, session) or 0) * 1000 >= micros
    if isJoining then
      if isAlive and kind ~= 'r' then
        break
      end
      redis.call('zrem', queue, head)
    end
    if isAlive then
      local value = give(session, sequence, lease, kind == 'r')
      local field, number = session .. ':' .. (kind == 'r' and kind or sequence), tonumber(kind) and kind or '0'
      granted[#granted + 1] =
        { session = session, sequence = sequence, value = value, field = field, number = number }
      if kind ~= 'r' then
        break
      end
    else
      dropped = true
      -- It may have been signalled, and then nobody would be.
      signalAll()
      enqueueAdmitted()
    end
  end
  for _, grant in ipairs(granted) do
    grant.last, grant.behind = runOf(grant.session)
  end
  if granted[1] and granted[1].last == 0 and granted[1].behind == 0 then
    redis.call('del', waiters)
  end
  for _, grant in ipairs(granted) do
    if grant.session ~= caller then
      tellGranted(grant)
    end
  end
  if isShared and dropped and redis.call('exists', queue) == 0 then
    demand('n')
  end
  return granted[1] and granted[1].field
end

-- For how long plain RLock clients still have their turn. It can't be longer, unless the clock has stepped back.
local function yielding()
  local left = tonumber(redis.call('hget', turns, 'until') or 0) - math.floor(micros / 1000)
  return left > 0 and left <= 10 and left or 0
end
