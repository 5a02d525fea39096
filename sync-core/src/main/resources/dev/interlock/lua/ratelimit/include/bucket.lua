-- Gives decideByBucket: decides on requests by the generic cell rate algorithm.
--
-- It is the algorithm as a continuous-state leaky bucket, ITU-T I.371. The state is what the bucket lacks, as the time
-- in which it comes times the permits that come in a window: so a permit is a window, and all is whole numbers.

-- @include longest

-- Takes a limit and what is asked, and the state as it was at a time, nil if there is none. Returns for how long to
-- keep the new state, at least and at most, and that state. Numbers that it has no use for are passed on.
local function decideByBucket(limit, now, requests, repeated, answer, at, lacks, oldWindow, oldBurst, ...)
  local max, min, floor, ceil = math.max, math.min, math.floor, math.ceil
  local permits, window, burst = limit.permits, limit.window, limit.burst
  if not at then
    at, lacks, oldWindow, oldBurst = now, 0, window, burst
  end
  local capacity = burst * window
  if oldWindow ~= window then
    lacks = ceil(lacks / oldWindow * window)
  end
  if oldBurst ~= burst or oldWindow ~= window then
    lacks = min(lacks, capacity)
  end
  -- A clock that was set back makes nothing worse.
  if now > at then
    lacks = lacks - (now - at) * permits
  end
  if lacks < 0 then
    lacks = 0
  end

  local full = ceil(capacity / permits)
  for wanted, more, patience in requests:gmatch('(%d+) (%d+) (%d+)') do
    local got, wait = 0, -1
    wanted = tonumber(wanted)
    if wanted <= burst and not repeated then
      wait = min(longest, max(0, ceil((lacks + wanted * window - capacity) / permits)))
      if wait <= tonumber(patience) then
        got = wanted
        if wait == 0 then
          got = got + min(tonumber(more), floor((capacity - lacks) / window) - wanted)
        end
        lacks = lacks + got * window
      end
    end
    answer(wanted, got, wait, max(0, floor((capacity - lacks) / window)), ceil(lacks / permits), full)
  end

  local least = ceil(lacks / permits)
  return least, least + floor(least / 8), lacks, window, burst, ...
end
