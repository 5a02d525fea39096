-- Included by the script that decides; expects the locals algorithm, numbers, now, permits, window, burst, longest, charge, remaining, reset, good,
-- saved and kept.
--
-- The generic cell rate algorithm as a continuous-state leaky bucket, ITU-T I.371. The state is what the bucket lacks, as the time in which it
-- comes times the permits that come in a window: so a permit is a window, and all is whole numbers.
if algorithm == 'bucket' then
  local at, lacks, oldWindow = numbers[3] or now, numbers[4] or 0, numbers[5] or window
  local capacity = burst * window
  if oldWindow ~= window then
    lacks = math.ceil(lacks / oldWindow * window)
  end
  if numbers[6] and (numbers[6] ~= burst or oldWindow ~= window) then
    lacks = math.min(lacks, capacity)
  end
  -- A clock that was set back makes nothing worse.
  lacks = math.max(0, lacks - math.max(0, now - at) * permits)

  charge = function(wanted, more, patience)
    local wait = math.min(longest, math.max(0, math.ceil((lacks + wanted * window - capacity) / permits)))
    if wait > patience then
      return 0, wait
    end
    local granted = wanted
    if wait == 0 then
      granted = granted + math.min(more, math.floor((capacity - lacks) / window) - wanted)
    end
    lacks = lacks + granted * window
    return granted, wait
  end
  remaining = function()
    return math.max(0, math.floor((capacity - lacks) / window))
  end
  reset = function()
    return math.ceil(lacks / permits)
  end
  good = function()
    return math.ceil(capacity / permits)
  end
  saved = function(expires)
    return cmsgpack.pack(algorithm, expires, now, lacks, window, burst)
  end
  kept = function()
    local least = reset()
    return least, least + math.floor(least / 8)
  end
end
