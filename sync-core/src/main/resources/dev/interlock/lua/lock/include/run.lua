-- Gives runOf: the run that a session's tickets form at the head of the queue.

-- So many consecutive tickets of a session at most are served on the tenure of the one before them.
local maxRun = 32

-- Returns the last sequence of the run, 0 if there is none; and whether others may stand behind it, 1 or 0.
local function runOf(queue, session)
  local last, behind = 0, 0
  local line = redis.call('zrange', queue, 0, maxRun - 1)
  for _, ticket in ipairs(line) do
    if string.sub(ticket, 1, #session + 1) ~= session .. ':' then
      behind = 1
      break
    end
    last = tonumber(string.match(ticket, '^[^:]+:(%d+)'))
  end
  return last, #line == maxRun and 1 or behind
end
