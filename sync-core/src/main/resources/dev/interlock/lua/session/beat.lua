-- Says that a session lives, and echoes that in its mailbox.
--
-- KEYS[1] heartbeat string there as long as the session lives
-- ARGV[1] session          the caller
-- ARGV[2] number           of its heartbeat
-- Reply: {time µs, 1 if Redis knew that it lives}
-- Idempotent by: session
local heartbeat = KEYS[1]
local session, number = ARGV[1], ARGV[2]

-- @include times
-- @include clock
-- @include mailbox

local micros = clock()
local wasAlive = redis.call('set', heartbeat, 1, 'px', heartbeatMillis, 'get')
redis.call('publish', mailbox .. session, 'h ' .. number .. ' ')
return { micros, wasAlive and 1 or 0 }
