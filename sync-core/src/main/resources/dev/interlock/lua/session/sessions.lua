-- Tells which sessions have a mailbox at the node that owns a key.
--
-- KEYS[1] any      any     routes the command
-- Reply: {session…}
-- Idempotent by: reads only
local any = KEYS[1]

-- @include mailbox

local sessions = {}
for _, channel in ipairs(redis.call('pubsub', 'channels', mailbox .. '*')) do
  sessions[#sessions + 1] = string.sub(channel, #mailbox + 1)
end
return sessions
