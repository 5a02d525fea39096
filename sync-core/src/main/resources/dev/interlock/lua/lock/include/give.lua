-- Gives give: makes a session the owner of a free lock, or a reader of one that is free or shared.

-- @include session/clock
-- @include share
-- @include draw

-- Returns the fencing token that is drawn for it.
local function give(name, session, sequence, lease, isShared)
  local micros = name.micros or clock()
  if isShared then
    local millis = math.floor(micros / 1000)
    share(name, session, sequence, millis + lease, millis)
  else
    redis.call('hset', name.lock, session .. ':' .. sequence, 1)
    redis.call('pexpire', name.lock, lease)
  end
  return drawToken(name.token, name.floor, micros)
end
