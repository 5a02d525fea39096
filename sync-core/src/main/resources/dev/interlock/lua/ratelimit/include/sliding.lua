-- Gives countBySliding: counts permits by a sliding window.
--
-- The state is a log: when permits were taken, and how many. They count until a window later. Of a limit of up to 64
-- permits each request has an entry, so the window is exact. Of a greater one, requests that come within a 64th of the
-- window share an entry until that has a 64th of the permits, and count from the last of them: so there are 200 entries
-- at most, never more permits than the limit in any window, and hardly ever fewer.
--
-- Requests that wait are entered at the time at which they have their permits, and all that come later no earlier. So
-- only entries of the window that ends then matter, and the last one is as far ahead as anybody waits. It is kept as
-- numbers, its time and its permits, and so is the sum of all; the others are in the text, two doubles each.

-- Takes what countByBucket does, and where in the text the log begins; returns the same.
local function countBySliding(limit, now, at, last, latest, live, log, head)
  local max, min, floor = math.max, math.min, math.floor
  local permits, window = limit.permits, limit.window
  if not last then
    last, latest, live, log, head = now, 0, 0, '', 1
  elseif now < at then
    -- The clock was set back, and the window goes with it.
    local moved = {}
    for i = head, #log, 16 do
      local time, taken = struct.unpack('>dd', log, i)
      moved[#moved + 1] = struct.pack('>dd', time - (at - now), taken)
    end
    last, log, head = last - (at - now), table.concat(moved), 1
  end
  local from = max(now, last)

  -- Forgets what counts no more.
  local function expire()
    while head < #log do
      local time, taken = struct.unpack('>dd', log, head)
      if time + window > from then
        return
      end
      live, head = live - taken, head + 16
    end
    if last + window <= from then
      live, latest = 0, 0
    end
  end

  expire()

  -- When there is room for so many more.
  local function room(missing)
    local position, time, taken = head, from, nil
    while missing > 0 and position < #log do
      time, taken = struct.unpack('>dd', log, position)
      missing, time, position = missing - taken, time + window, position + 16
    end
    return missing > 0 and last + window or time
  end

  local function take(got, wait)
    from = max(from, now + wait)
    expire()
    if latest > 0 and from > last then
      local parts = 64 / window
      if latest + got > permits / 64 or floor(from * parts) > floor(last * parts) then
        log, latest = log .. struct.pack('>dd', last, latest), 0
      end
    end
    last, latest, live = from, latest + got, live + got
    -- Of more permits than the limit only the latest make anybody wait.
    while live > permits and head < #log do
      local _, taken = struct.unpack('>dd', log, head)
      if live - taken < permits then
        break
      end
      live, head = live - taken, head + 16
    end
  end

  local function decide(wanted, more, patience)
    local got, wait = 0, -1
    if wanted <= permits then
      local free = permits - live
      wait = max(from, room(wanted - free)) - now
      if wait <= patience then
        got = wait > 0 and wanted or wanted + min(more, free - wanted)
        take(got, wait)
      end
    end
    return got, wait, from > now and 0 or max(0, permits - live), live > 0 and last + window - now or 0, window
  end

  local function kept()
    local least = live > 0 and last + window - now or 0
    return least, least + floor(least / 8), last, latest, live, log:sub(head)
  end

  return decide, take, kept
end
