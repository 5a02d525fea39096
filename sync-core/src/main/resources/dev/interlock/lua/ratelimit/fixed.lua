-- Included by the script that decides; expects the locals algorithm, isNew, at, first, second, third, now, permits, window, burst, requests, repeated, answer,
-- least, most, max and min.
--
-- Windows begin with the first permit that is taken in them. Those who wait take from the next one, which begins when this one ends; so
-- the state is that of the latest window anything was taken from, which may be yet to come.
if algorithm == 'fixed' then
  local start, taken = first, second
  if isNew then
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
    if wanted <= burst and not repeated then
      local from, before = start, taken
      if before + wanted > permits then
        from, before = start + window, 0
      end
      wait = max(0, from - now)
      if wait <= tonumber(patience) then
        got = wanted
        if wait == 0 then
          got = got + min(tonumber(more), permits - before - wanted)
        end
        start, taken = from, before + got
      end
    end
    local ends = start + window - now
    answer(wanted, got, wait, start > now and 0 or max(0, permits - taken), taken > 0 and ends or 0, ends)
  end

  first, second, third = start, taken, 0
  least = taken > 0 and start + window - now or 0
  most = least
end
