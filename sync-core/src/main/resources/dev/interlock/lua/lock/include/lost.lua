-- Gives signalAllIfLost: signals all waiters of a free lock whose last tenure has ended without its release.

-- @include admission
-- @include conditions

-- What such a tenure had to signal is unknown.
local function signalAllIfLost(name)
  local released = redis.call('hget', name.signals, 'released')
  if not released or released ~= redis.call('get', name.token) then
    signalAll(name)
    enqueueAdmitted(name)
  end
end
