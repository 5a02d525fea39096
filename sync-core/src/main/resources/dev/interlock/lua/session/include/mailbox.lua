-- Gives mailbox: the prefix of a session's channel.

local mailbox = 'interlock:mailbox:'
