-- Included by the scripts of the lock that may find it free, after conditions; expects the locals token and signals.

-- A tenure that has ended in any other way than by its release may have had something to signal: then all are signalled.
local function signalAllIfLost()
  local released = redis.call('hget', signals, 'released')
  if not released or released ~= redis.call('get', token) then
    signalAll()
    enqueueAdmitted()
  end
end
