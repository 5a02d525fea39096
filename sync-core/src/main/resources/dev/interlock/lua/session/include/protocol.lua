-- Gives protocolOf and refuse: sessions of different protocols can't share a name.
--
-- A session's id is `interlock-<protocol>-<uuid>`. Who comes to a name looks for the protocol of those who are there,
-- and goes away if that is another one. So all who are there speak the same, and needn't look again.

local function protocolOf(id)
  return string.match(id, '^interlock%-(%d+)%-') or '0'
end

-- The error for a session of another protocol than that, which is false if what is there tells none.
local function refuse(protocol)
  return { err = 'PROTOCOL ' .. (protocol or 0) }
end
