-- Gives countByBucket: counts permits by the generic cell rate algorithm.
--
-- It is the algorithm as a continuous-state leaky bucket, ITU-T I.371. The state is what the bucket lacks, as the time
-- in which it comes times the permits that come in a window: so a permit is a window, and all is whole numbers.

-- @include longest

-- Takes a limit, and what was counted by a time: up to three numbers and a log. Returns three functions. The first one
-- takes what a request asks for, permits, how many more, and how long it would wait; it decides and counts, and returns
-- how many are granted; the wait until they are there, or -1 if never; how many are there now; the time until all are
-- there; and for how long what is taken may be used. The second one counts permits that another limit has granted for a
-- time after that wait, be they there or not. The third one returns for how long to keep the count, at least and at
-- most, and its numbers and log.
local function countByBucket(limit, now, at, first)
  local max, min, floor, ceil = math.max, math.min, math.floor, math.ceil
  local permits, window, burst = limit.permits, limit.window, limit.burst
  local capacity = burst * window
  -- A clock that was set back makes nothing worse.
  local lacks = max(0, (first or 0) - max(0, now - at) * permits)
  local full = ceil(capacity / permits)

  local function decide(wanted, more, patience)
    local got, wait = 0, -1
    if wanted <= burst then
      wait = min(longest, max(0, ceil((lacks + wanted * window - capacity) / permits)))
      if wait <= patience then
        got = wait > 0 and wanted or wanted + min(more, floor((capacity - lacks) / window) - wanted)
        lacks = lacks + got * window
      end
    end
    return got, wait, max(0, floor((capacity - lacks) / window)), ceil(lacks / permits), full
  end

  -- Adds to what the bucket lacks then. If that is more than it holds, it gives nothing until the rest has come, but
  -- for a window at most: the other limit may have granted many times as much.
  local function charge(got, wait)
    local before = max(0, lacks - wait * permits)
    lacks = max(before, min(capacity + permits * window, before + got * window)) + wait * permits
  end

  local function kept()
    local least = ceil(lacks / permits)
    return least, least + floor(least / 8), lacks, burst, 0, ''
  end

  return decide, charge, kept
end
