-- Tells the owner of the name at one node of a quorum.
--
-- KEYS[1] lock     hash    its one field is the owner, `<session>:<sequence>`, with the token drawn for it
-- Reply: {owner}, or {''} if it is free
-- Idempotent by: reads only
local lock = KEYS[1]

return { redis.call('hgetall', lock)[1] or '' }
