-- Tells which sessions have a mailbox at the node that owns a key, and who they are: a session listens to a second
-- channel, `{<mailbox>} <host> <pid> <name>`, for that.
--
-- KEYS[1] any      any     routes the command
-- Reply: {session or what its second channel says…}
-- Idempotent by: reads only
local any = KEYS[1]

-- @include mailbox

local sessions = {}
for _, channel in ipairs(redis.call('pubsub', 'channels', mailbox .. '*')) do
  sessions[#sessions + 1] = string.sub(channel, #mailbox + 1)
end
return sessions
