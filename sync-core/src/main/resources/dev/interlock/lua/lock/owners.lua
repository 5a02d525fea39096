-- Included by the scripts of the lock; expects the locals lock, readers and session.
--
-- The lock is owned by one sequence of one session, or shared by sessions that only read. The hash of the lock tells by
-- which: an owner's field is `<session>:<sequence>`, a reader's `<session>:r` with its sequence. Each reader's lease ends by
-- itself, so these are in a sorted set of their own.

local function isReader(holder)
  return holder ~= nil and string.sub(holder, -2) == ':r'
end

-- Who has the lock, one of them if it is shared, or nil. Readers whose lease is over are forgotten.
local function holderAt(millis)
  local holder = redis.call('hrandfield', lock) or nil
  if isReader(holder) then
    for _, id in ipairs(redis.call('zrangebyscore', readers, '-inf', string.format('(%.0f', millis))) do
      redis.call('hdel', lock, id .. ':r')
      redis.call('zrem', readers, id)
    end
    holder = redis.call('hrandfield', lock) or nil
  end
  return holder
end

-- The sequence by which the session owns or shares the lock, or 0.
local function ownBy(holder)
  if isReader(holder) then
    return tonumber(redis.call('hget', lock, session .. ':r') or 0)
  end
  local prefix = session .. ':'
  return holder and string.sub(holder, 1, #prefix) == prefix and tonumber(string.sub(holder, #prefix + 1)) or 0
end

-- Ends what a sequence of the session has. Returns whether it owned the lock, and whether it shared it.
local function leave(sequence)
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
