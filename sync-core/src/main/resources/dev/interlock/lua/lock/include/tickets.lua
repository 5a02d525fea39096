-- Gives enqueueTickets and dropTickets: they add tickets to the queue, and remove them.

-- So many tickets at a time, since a call takes no more than some thousands of arguments.
local chunk = 500

-- Adds tickets behind a position.
local function enqueueTickets(queue, arriving, back)
  for i = 1, #arriving, chunk do
    local members = {}
    for k = i, math.min(i + chunk - 1, #arriving) do
      members[#members + 1] = back + k
      members[#members + 1] = arriving[k]
    end
    redis.call('zadd', queue, unpack(members))
  end
end

-- Removes tickets of a session, given as `<sequence>:<lease>` separated by spaces. Returns their sequences.
local function dropTickets(queue, session, used)
  local members, sequences = {}, {}
  for sequence, grantLease in string.gmatch(used, '(%d+):(%S+)') do
    members[#members + 1] = session .. ':' .. sequence .. ':' .. grantLease
    sequences[#sequences + 1] = sequence
  end
  for i = 1, #members, chunk do
    redis.call('zrem', queue, unpack(members, i, math.min(i + chunk - 1, #members)))
  end
  return sequences
end
