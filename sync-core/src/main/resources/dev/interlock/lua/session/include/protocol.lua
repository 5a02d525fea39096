-- Gives protocolOf and refuse: sessions of different protocols can't share a name.
--
-- A session's id is `interlock-<protocol>-<uuid>`. A script compares the caller's protocol with that of one session at
-- the name before it lets the caller in. All sessions at a name have passed that check, so any of them will do.

local function protocolOf(id)
  return string.match(id, '^interlock%-(%d+)%-') or '0'
end

-- The error for a session of another protocol than that, which is false if what is there tells none.
local function refuse(protocol)
  return { err = 'PROTOCOL ' .. (protocol or 0) }
end
