-- Tells a session that was refused the lock whether a thread of the owner is inside.
--
-- KEYS[1] lock     hash    Redisson's lock: one that is free by now has nobody inside
-- ARGV[1] asker            the session that is told
-- ARGV[2] request          the sequence of its request that was refused
-- ARGV[3] inside           1: a thread is inside, 0: the lock was given up
-- Reply: {1} it is told that somebody is inside, {0} that nobody is
-- Idempotent by: changes nothing
local lock = KEYS[1]
local asker, request, inside = ARGV[1], ARGV[2], ARGV[3]

-- @include session/mailbox

local told = inside == '1' and redis.call('exists', lock) or 0
send(lock, asker, 'a ' .. request .. ' ' .. told .. ' ' .. lock)
return { told }
