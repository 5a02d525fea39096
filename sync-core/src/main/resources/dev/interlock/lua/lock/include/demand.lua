-- Gives demand: tells the owner, or all readers, whether others want the lock.

-- @include session/mailbox
-- @include fields

-- The kind is `d`: others wait; `n`: no others wait any more; `i`: the calling session was refused a request, and asks
-- whether a thread is inside, or, of a ticket if one is given, whether a thread waits with that.
local function demand(lock, session, kind, request, ticket)
  local detail = kind == 'i' and request .. ' ' .. session .. ' ' or ''
  local entries = ticket and { ticket, '' } or redis.call('hgetall', lock)
  for i = 1, #entries, 2 do
    local id, sequence = ownerOf(entries[i]), string.match(entries[i], '^[^:]+:(%d+)') or entries[i + 1]
    -- Those of the calling session wait for each other in their JVM.
    if id and (kind ~= 'd' or id ~= session) then
      send(lock, id, kind .. ' ' .. sequence .. ' ' .. detail .. lock)
    end
  end
end
