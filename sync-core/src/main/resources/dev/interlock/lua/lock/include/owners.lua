-- Gives holderAt, ownBy and leave: they tell the owner or the readers of the lock, and end an ownership.
--
-- Each reader's lease ends by itself, so these are in a sorted set of their own.

-- @include fields

-- The field of the owner, of one of the readers if the lock is shared, or nil. Readers whose lease is over are
-- forgotten.
local function holderAt(lock, readers, millis)
  local holder = redis.call('hrandfield', lock) or nil
  if isReader(holder) then
    local expired = redis.call('zrangebyscore', readers, '-inf', string.format('(%.0f', millis))
    for _, id in ipairs(expired) do
      redis.call('hdel', lock, id .. ':r')
      redis.call('zrem', readers, id)
    end
    holder = redis.call('hrandfield', lock) or nil
  end
  return holder
end

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
