-- Included by the scripts of the lock, after give; expects the locals lock, queue, waiters and micros.

-- Grants the free lock to the first ticket whose session is alive and tells that session, unless it is the caller,
-- who learns it from the reply. Tickets of dead sessions are dropped on the way. Returns the new owner, or nil.
local function grantHead(caller)
  while true do
    local head = redis.call('zpopmin', queue)[1]
    if not head then
      redis.call('del', waiters)
      return nil
    end
    local session, sequence, lease = string.match(head, '^(.+):(%d+):(%d+)$')
    if tonumber(redis.call('zscore', waiters, session) or 0) * 1000 >= micros then
      local owner = session .. ':' .. sequence
      local value = give(owner, lease)
      local behind = redis.call('zcard', queue)
      if behind == 0 then
        redis.call('del', waiters)
      end
      if owner ~= caller then
        local grant = { 'g', sequence, string.format('%.0f', value), string.format('%.0f', micros), behind, lock }
        redis.call('publish', 'interlock:mailbox:' .. session, table.concat(grant, ' '))
      end
      return owner
    end
  end
end
