-- Gives holderAt, ownBy and leave: they tell the owner or the readers of the lock, and end an ownership.
--
-- Each reader's lease ends by itself, so these are in a sorted set of their own.

-- @include fields

-- The field of the owner, of one of the readers if the lock is shared, or nil. Readers whose lease is over are
-- forgotten.
local function holderAt(name, millis)
  local holder = redis.call('hrandfield', name.lock) or nil
  if isReader(holder) then
    local expired = redis.call('zrangebyscore', name.readers, '-inf', string.format('(%.0f', millis))
    for _, id in ipairs(expired) do
      redis.call('hdel', name.lock, id .. ':r')
      redis.call('zrem', name.readers, id)
    end
    holder = redis.call('hrandfield', name.lock) or nil
  end
  return holder
end

-- The sequence by which the calling session owns or shares the lock, or 0.
local function ownBy(name, holder)
  if isReader(holder) then
    return tonumber(redis.call('hget', name.lock, name.session .. ':r') or 0)
  end
  local prefix = name.session .. ':'
  return holder and string.sub(holder, 1, #prefix) == prefix and tonumber(string.sub(holder, #prefix + 1)) or 0
end

-- Ends what a sequence of the calling session has. Returns whether it owned the lock, and whether it shared it.
local function leave(name, sequence)
  if redis.call('hdel', name.lock, name.session .. ':' .. sequence) == 1 then
    return true, false
  end
  local shares = redis.call('hget', name.lock, name.session .. ':r') == sequence
  if shares then
    redis.call('hdel', name.lock, name.session .. ':r')
    redis.call('zrem', name.readers, name.session)
  end
  return false, shares
end
