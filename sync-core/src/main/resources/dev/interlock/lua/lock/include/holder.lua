-- Gives holderOf: the owner of the lock, or one of its readers.
--
-- Each reader's lease ends by itself, so these are in a sorted set of their own.

-- @include fields
-- @include admission
-- @include conditions

-- The field of the owner, of one of the readers if the lock is shared, or nil. Readers whose lease is over are
-- forgotten. A waiter of theirs may have been signalled that got no ticket of its own: all others are signalled.
local function holderOf(name)
  local holder = redis.call('hrandfield', name.lock) or nil
  if isReader(holder) then
    local expired = redis.call('zrangebyscore', name.readers, '-inf', string.format('(%.0f', name.millis))
    for _, id in ipairs(expired) do
      redis.call('hdel', name.lock, id .. ':r')
      redis.call('zrem', name.readers, id)
    end
    if expired[1] and redis.call('exists', name.conditions) == 1 then
      signalAll(name)
      enqueueAdmitted(name)
      tellAdmitted(name, '')
      keepConditions(name)
    end
    holder = redis.call('hrandfield', name.lock) or nil
  end
  return holder
end
