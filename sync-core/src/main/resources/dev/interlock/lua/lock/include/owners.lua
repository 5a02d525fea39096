-- Gives ownBy and leave: they tell by which sequence a session owns or shares the lock, and end that.

-- @include fields

-- The sequence by which a session owns or shares the lock, or 0.
local function ownBy(lock, session, holder)
  if isReader(holder) then
    return tonumber(redis.call('hget', lock, session .. ':r') or 0)
  end
  local prefix = session .. ':'
  return holder and string.sub(holder, 1, #prefix) == prefix and tonumber(string.sub(holder, #prefix + 1)) or 0
end

-- Ends what a sequence of a session has. Returns whether it owned the lock, and whether it shared it.
local function leave(lock, readers, session, sequence)
  if redis.call('hdel', lock, session .. ':' .. sequence) == 1 then
    return true, false
  end
  local shares = redis.call('hget', lock, session .. ':r') == sequence
  if shares then
    redis.call('hdel', lock, session .. ':r')
    redis.call('zrem', readers, session)
  end
  return false, shares
end
