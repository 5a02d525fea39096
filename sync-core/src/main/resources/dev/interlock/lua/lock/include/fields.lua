-- Gives isReader, isForeign and ownerOf: what a field of the lock's hash tells of the one that has the lock.
--
-- The lock is owned by one sequence of one session, or shared by sessions that only read. An owner's field is
-- `<session>:<sequence>`, a reader's is `<session>:r` and has its sequence as its value.

local function isReader(holder)
  return holder ~= nil and string.sub(holder, -2) == ':r'
end

-- Anything but one of our own sessions: a plain RLock, another kind of lock.
local function isForeign(holder)
  return holder ~= nil and string.sub(holder, 1, 10) ~= 'interlock-'
end

-- The session of an owner, a reader or a ticket, if it is one of ours.
local function ownerOf(text)
  return string.match(text, '^(interlock%-[^:]+):')
end
