-- Gives decideBySliding: decides on requests by a sliding window.
--
-- The state is two counters: of the window that began at start, and of the one before, of which the part counts that
-- the stretch reaches back into it. Requests that wait take their permits at a time ahead of now, and all that come
-- later do so no earlier.

-- Takes and returns what decideByBucket does, with a state of its own.
local function decideBySliding(limit, now, requests, repeated, answer, at, start, before, taken, ahead, oldWindow)
  local max, min, floor, ceil = math.max, math.min, math.floor, math.ceil
  local permits, window = limit.permits, limit.window
  if not at then
    at, start, before, taken, ahead, oldWindow = now, now - now % window, 0, 0, now, window
  end
  if now < at then
    -- The clock was set back, and the windows go with it.
    start, ahead = start - (at - now), ahead - (at - now)
  end
  local from = max(now, ahead)

  local function roll(to)
    if to >= start + 2 * oldWindow then
      start, before, taken = to - (to - start) % oldWindow, 0, 0
    elseif to >= start + oldWindow then
      start, before, taken = start + oldWindow, taken, 0
    end
  end
  local function counted()
    return before * (start + window - from) / window
  end

  roll(from)
  if oldWindow ~= window then
    taken = min(permits, ceil(before * (start + oldWindow - from) / oldWindow) + taken)
    before, start, oldWindow = 0, from - from % window, window
  end

  -- When there is room for more of a window that begins then, after one in which so many were taken.
  local function room(begin, past, present, wanted)
    local free = permits - present - wanted
    return begin + (free < past and ceil(window - free * window / past) or 0)
  end

  local function reset()
    return max(0, taken > 0 and start + 2 * window - now or before > 0 and start + window - now or 0)
  end

  for wanted, more, patience in requests:gmatch('(%d+) (%d+) (%d+)') do
    local got, wait = 0, -1
    wanted = tonumber(wanted)
    if wanted <= limit.burst and not repeated then
      local time
      if taken + wanted <= permits then
        time = room(start, before, taken, wanted)
      else
        time = room(start + window, taken, 0, wanted)
      end
      time = max(from, time)
      wait = time - now
      if wait <= tonumber(patience) then
        from = time
        roll(from)
        got = wanted
        if wait == 0 then
          got = got + max(0, min(tonumber(more), floor(permits - taken - wanted - counted())))
        end
        taken = taken + got
      end
    end
    local remaining = from > now and 0 or max(0, floor(permits - taken - counted()))
    answer(wanted, got, wait, remaining, reset(), start + window - now)
  end

  local least = reset()
  return least, least, start, before, taken, from, window
end
