-- Gives countAsBytes and recallCounts: what limits have counted.
--
-- As bytes, a count is the number of its algorithm (1 bucket, 2 fixed, 3 sliding; a later protocol adds 16 for each
-- before it), a byte; how many entries its log has, two bytes; as doubles, when it was used last, when the key expires,
-- permits, window and three numbers of the algorithm; then the log, two doubles an entry. The one used last is the
-- first, so it says when all of them were written. Only that one says when the key expires.
--
-- A limit is used when it grants anything. While others are in use, too, so it is by a refusal, for which its count is
-- written unless that was lately: else the others would go on without it. It is in use for as long after that as
-- anything counts that it has granted.

-- @include bucket
-- @include fixed
-- @include sliding

-- Takes a limit, when it was used last, when the key expires, and numbers and log.
local function countAsBytes(limit, used, expires, first, second, third, log)
  return struct.pack('>BHddddddd', limit.kind, #log / 16, used, expires, limit.permits, limit.window, first, second,
    third) .. log
end

-- Takes all counts as bytes, when they were written, a limit, and whether that is the only one in use. Returns numbers
-- and log of the limit; when it was used last, nil if it had no count; and the other limits that are in use, three at
-- most, with the functions that count by them.
local function recallCounts(bytes, at, limit, now, isOnly)
  local algorithms, counts, position = { countByBucket, countByFixed, countBySliding }, {}, 1
  local own, others = nil, {}
  local function whole(count)
    return math.ceil(count.window * count.burst / count.permits)
  end
  local function begin(count, time)
    return algorithms[count.kind](count, time, at, count.first, count.second, count.third, count.log, 1)
  end

  while position < #bytes do
    local count, entries, ends, _ = {}, nil, nil, nil
    count.kind, entries, count.used, _, count.permits, count.window, count.first, count.second, count.third, ends =
      struct.unpack('>BHddddddd', bytes, position)
    position = ends + 16 * entries
    count.burst, count.log = count.kind == 1 and count.second or count.permits, bytes:sub(ends, position - 1)
    counts[#counts + 1] = count
    if count.kind == limit.kind and count.permits == limit.permits and count.window == limit.window
      and count.burst == limit.burst then
      own = count
    elseif not isOnly and #others < 3 and now - count.used < whole(count) then
      _, count.charge, count.kept = begin(count, now)
      others[#others + 1] = count
    end
  end
  if own then
    return own.first, own.second, own.third, own.log, own.used, others
  end

  -- Begins with the count of which most is taken: by the same algorithm with its numbers, by another one as if all that
  -- had been taken at the last moment.
  local source, most, by = nil, 0, at
  for _, count in ipairs(counts) do
    local _, _, free, reset = begin(count, at)(count.burst + 1, 0, 0)
    local taken = count.burst - free
    if taken > most or source and taken == most and count.kind == limit.kind then
      source, most, by = count, taken, at + math.max(0, reset - whole(count))
    end
  end
  if not source then
    return nil, nil, nil, nil, nil, others
  elseif source.kind ~= limit.kind then
    local lacks = math.min(most, limit.burst) * limit.window + (by - at) * limit.permits
    return limit.kind == 1 and lacks or by, most, most, '', nil, others
  end
  local first = source.first
  if limit.kind == 1 and source.window ~= limit.window then
    first = math.ceil(first / source.window * limit.window)
  end
  if limit.kind == 1 and (source.window ~= limit.window or source.burst ~= limit.burst) then
    first = math.min(first, limit.burst * limit.window)
  end
  return first, source.second, source.third, source.log, nil, others
end
