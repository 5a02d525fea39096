-- Included by the script that decides; expects the locals algorithm, numbers, now, permits, window, charge, remaining, reset, good,
-- saved and kept.
--
-- Windows begin with the first permit that is taken in them. Those who wait take from the next one, which begins when this one ends; so
-- the state is that of the latest window anything was taken from, which may be yet to come.
if algorithm == 'fixed' then
  local at, start, taken = numbers[3] or now, numbers[4] or now, numbers[5] or 0
  if now < at then
    -- The clock was set back, and the windows go with it.
    start = start - (at - now)
  end
  if now >= start + window then
    start, taken = now, 0
  end

  charge = function(wanted, more, patience)
    local from, before = start, taken
    if before + wanted > permits then
      from, before = start + window, 0
    end
    local wait = math.max(0, from - now)
    if wait > patience then
      return 0, wait
    end
    local granted = wanted
    if wait == 0 then
      granted = granted + math.min(more, permits - before - wanted)
    end
    start, taken = from, before + granted
    return granted, wait
  end
  remaining = function()
    return start > now and 0 or math.max(0, permits - taken)
  end
  reset = function()
    return taken > 0 and start + window - now or 0
  end
  good = function()
    return start + window - now
  end
  saved = function(expires)
    return cmsgpack.pack(algorithm, expires, now, start, taken)
  end
  kept = function()
    return reset(), reset()
  end
end
