-- Gives send: publishes a message to the mailbox of a session.

local function send(session, message)
  redis.call('publish', 'interlock:mailbox:' .. session, message)
end
