-- Puts a message in the mailbox of a session.
--
-- KEYS[1] any      any     routes the command
-- ARGV[1] session          whose mailbox
-- ARGV[2] message          as docs/key-format.md has it
-- Reply: {clients that got it}
-- Idempotent by: the number in the message
local any = KEYS[1]
local session, message = ARGV[1], ARGV[2]

-- @include mailbox

return { redis.call('publish', mailbox .. session, message) }
