-- Gives operate: does what a tenure of the calling session has to do with the conditions of the lock.

-- @include session/times
-- @include sessions
-- @include conditions

-- Does it in this order: `s<condition>` and `a<condition>` signal one or all of a condition's waiters,
-- `w<condition>:<position>:<waiter>:<lease>` has a waiter wait (`f` if each thread of its session has a ticket), `*`
-- signals all of all conditions. The first ones may have been done before. Returns how many there are.
--
-- The name's `queued` is the highest sequence of the session that has queued so far: others of its threads may have
-- tickets that are younger than a waiter.
local function operate(name, sequence, operations, done)
  local count = 0
  for kind, text in string.gmatch(operations, '(%S)(%S*)') do
    count = count + 1
    if count > done then
      if kind == 's' then
        signal(name, text)
      elseif kind == 'a' then
        signalAll(name, text)
      elseif kind == '*' then
        signalAll(name)
      else
        local place, waiter, lease = string.match(text, '^([^:]+:%d+):(%d+):(%d+)$')
        redis.call('zadd', name.conditions, 0, place .. ':' .. name.session .. ':' .. waiter .. ':' .. lease)
        local own = sessionOf(name, name.session)
        own.highest = math.max(own.highest, tonumber(waiter), tonumber(sequence), name.queued)
        own.alive = name.millis + heartbeatMillis
        own.fair = kind == 'f' and '1' or '0'
        keepSession(name, name.session, own)
      end
    end
  end
  return count
end
