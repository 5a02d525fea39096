-- Gives mailbox and send: the prefix of a session's channel, and what puts a message there.

local mailbox = 'interlock:mailbox:'

-- Puts a message about a name in the mailbox of a session. A session in a cluster, whose id ends in `-s`, also listens
-- in the slots of some names: what is published there goes to no other node. If it doesn't, or Redis can't do that now,
-- all nodes are told.
local function send(key, session, text)
  local heard = 0
  if string.sub(session, -2) == '-s' then
    local tagged = string.find(key, '{', 1, true) and key or '{' .. key .. '}'
    heard = redis.pcall('spublish', mailbox .. tagged .. ':' .. session, text)
  end
  if (tonumber(heard) or 0) == 0 then
    redis.call('publish', mailbox .. session, text)
  end
end
