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

-- Grants the free lock to the first ticket whose session is alive and tells that session, unless it is the caller,
-- who learns it from the reply. Tickets of dead sessions are dropped on the way. Returns the new owner, or nil.
local function grantHead(caller)
  while true do
    local head = redis.call('zpopmin', queue)[1]
    if not head then
      redis.call('del', waiters)
      return nil
    end
    local session, sequence, lease, waiter = string.match(head, '^([^:]+):(%d+):(%d+):?(%-?%d*)$')
    if tonumber(redis.call('zscore', waiters, session) or 0) * 1000 >= micros then
      local owner = session .. ':' .. sequence
      local value = give(owner, lease)
      local last, behind = runOf(session)
      if last == 0 and behind == 0 then
        redis.call('del', waiters)
      end
      if session ~= caller then
        -- The name is appended, since format ends a string at its first zero byte.
        local flags = behind + (hasConditions and 2 or 0)
        local number = waiter == '' and '0' or waiter
        local grant = string.format('g %s %.0f %.0f %d %.0f %s ', sequence, value, micros, flags, last, number)
        redis.call('publish', 'interlock:mailbox:' .. session, grant .. lock)
      end
      return owner
    end
    -- It may have been signalled, and then nobody would be.
    signalAll()
    enqueueAdmitted()
  end
end

-- For how long plain RLock clients still have their turn. It can't be longer, unless the clock has stepped back.
local function yielding()
  local left = tonumber(redis.call('hget', turns, 'until') or 0) - math.floor(micros / 1000)
  return left > 0 and left <= 10 and left or 0
end

-- The session of an owner or a ticket, if it is one of ours.
local function ownerOf(text)
  return string.match(text, '^(interlock%-[^:]+):')
end

-- Tells an owner of ours that somebody waits.
local function demand(holder)
  local sequence = string.match(holder, ':(%d+)$')
  redis.call('publish', 'interlock:mailbox:' .. ownerOf(holder), 'd ' .. sequence .. ' ' .. lock)
end
