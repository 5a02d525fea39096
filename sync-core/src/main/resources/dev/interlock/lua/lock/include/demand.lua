-- Gives demand: tells the owner, or all readers, whether others wait for the lock.

-- @include session/mailbox
-- @include fields

-- The kind is `d`: others wait; `n`: no others wait any more; `i`: another would have had it if it were idle.
local function demand(name, kind)
  local entries = redis.call('hgetall', name.lock)
  for i = 1, #entries, 2 do
    local id, sequence = ownerOf(entries[i]), string.match(entries[i], ':(%d+)$') or entries[i + 1]
    -- Those of the same session wait for each other in their JVM.
    if id and (kind ~= 'd' or id ~= name.session) then
      send(id, kind .. ' ' .. sequence .. ' ' .. name.lock)
    end
  end
end
