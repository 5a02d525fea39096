-- Gives decideByFixed: decides on requests by fixed windows.
--
-- A window begins with the first permit that is taken in it. Requests that wait take from the next one, which begins
-- when this one ends; so the state is that of the latest window anything was taken from, which may be yet to come.

-- Takes and returns what decideByBucket does, with a state of its own.
local function decideByFixed(limit, now, requests, repeated, answer, at, start, taken, _, ...)
  local permits, window = limit.permits, limit.window
  if not at then
    at, start, taken = now, now, 0
  end
  if now < at then
    -- The clock was set back, and the windows go with it.
    start = start - (at - now)
  end
  if now >= start + window then
    start, taken = now, 0
  end

  for wanted, more, patience in requests:gmatch('(%d+) (%d+) (%d+)') do
    local got, wait = 0, -1
    wanted = tonumber(wanted)
    if wanted <= limit.burst and not repeated then
      local from, before = start, taken
      if before + wanted > permits then
        from, before = start + window, 0
      end
      wait = math.max(0, from - now)
      if wait <= tonumber(patience) then
        got = wanted
        if wait == 0 then
          got = got + math.min(tonumber(more), permits - before - wanted)
        end
        start, taken = from, before + got
      end
    end
    local ends = start + window - now
    local remaining = start > now and 0 or math.max(0, permits - taken)
    answer(wanted, got, wait, remaining, taken > 0 and ends or 0, ends)
  end

  local least = taken > 0 and start + window - now or 0
  return least, least, start, taken, 0, ...
end
