-- Gives countByFixed: counts permits by fixed windows.
--
-- A window begins with the first permit that is taken in it. Requests that wait take from the next one, which begins
-- when this one ends; so the state is that of the latest window anything was taken from, which may be yet to come: its
-- start, and how many were taken from it.

-- Takes what countByBucket does, and returns the same.
local function countByFixed(limit, now, at, start, taken)
  local max, min = math.max, math.min
  local permits, window = limit.permits, limit.window
  if not start then
    start, taken = now, 0
  elseif now < at then
    -- The clock was set back, and the windows go with it.
    start = start - (at - now)
  end
  if taken == 0 or now >= start + window then
    start, taken = now, 0
  end

  local function take(got, wait)
    if now + wait >= start + window then
      start, taken = now + wait, 0
    end
    taken = taken + got
  end

  local function decide(wanted, more, patience)
    local got, wait = 0, -1
    if wanted <= permits then
      local free = permits - taken
      wait = max(0, (wanted > free and start + window or start) - now)
      if wait <= patience then
        got = wait > 0 and wanted or wanted + min(more, free - wanted)
        take(got, wait)
      end
    end
    local ends = start + window - now
    return got, wait, start > now and 0 or max(0, permits - taken), taken > 0 and ends or 0, ends
  end

  local function kept()
    local least = taken > 0 and start + window - now or 0
    return least, least, start, taken, 0, ''
  end

  return decide, take, kept
end
