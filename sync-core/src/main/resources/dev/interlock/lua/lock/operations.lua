-- Included by the scripts of the lock, after conditions; expects the locals session, sequence, conditions and millis.

-- Does what a tenure had to do with its conditions, in this order: `s<condition>` and `a<condition>` signal one or all,
-- `w<condition>:<position>:<waiter>:<lease>` has a waiter wait (`f` if each thread of its session has a ticket), `*` signals all
-- of all conditions. The first ones may have been done before. Returns how many there are.
local function operate(operations, done)
  local count = 0
  for kind, text in string.gmatch(operations, '(%S)(%S*)') do
    count = count + 1
    if count > done then
      if kind == 's' then
        signal(text)
      elseif kind == 'a' then
        signalAll(text)
      elseif kind == '*' then
        signalAll()
      else
        local place, waiter, lease = string.match(text, '^([^:]+:%d+):(%d+):(%d+)$')
        redis.call('zadd', conditions, 0, place .. ':' .. session .. ':' .. waiter .. ':' .. lease)
        local own = sessionOf(session)
        own.highest = math.max(own.highest, tonumber(waiter), tonumber(sequence))
        own.alive = millis + heartbeat
        own.fair = kind == 'f' and '1' or '0'
        keepSession(session, own)
      end
    end
  end
  return count
end
