-- Included by the script that decides; expects the locals algorithm, numbers, now, permits, window, burst, requests, answer, saved, least, most, max
-- and min.
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

  for wanted, more, patience in requests:gmatch('(%d+) (%d+) (%d+)') do
    local got, wait = 0, -1
    wanted = tonumber(wanted)
    if wanted <= burst then
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
    answer(got, wait, start > now and 0 or max(0, permits - taken), taken > 0 and ends or 0, ends)
  end

  saved = cmsgpack.pack(now, start, taken)
  least = taken > 0 and start + window - now or 0
  most = least
end
