-- Gives sessions, sessionOf and keepSession: what is known of sessions that wait for conditions.

-- Those that this run of the script has to do with, by their ids.
local sessions = {}

-- What is kept of a session: `<highest sequence>:<end of its heartbeat, ms>:<1 if each of its threads has a ticket>`.
local function sessionOf(name, id)
  local known = sessions[id]
  if not known then
    local kept = redis.call('hget', name.signals, id) or '0:0:0'
    local highest, alive, fair = string.match(kept, '^(%d+):(%d+):(%d)$')
    known = { highest = tonumber(highest), alive = tonumber(alive), fair = fair, news = {} }
    sessions[id] = known
  end
  return known
end

local function keepSession(name, id, known)
  local kept = string.format('%.0f:%.0f:%s', known.highest, known.alive, known.fair)
  redis.call('hset', name.signals, id, kept)
end
