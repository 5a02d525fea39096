-- Gives parseMark and writeMark: a session's mark, which refuses its requests that come late.
--
-- The mark is `<n>:<m>`: the highest sequence of the session that queued or was over, and the highest that was
-- released, followed by `:d` if its operations are done.

-- @include session/times

local function parseMark(text)
  local queued, released, settled = string.match(text or '0:0', '^(%d+):(%d+)(.*)$')
  return tonumber(queued), tonumber(released), settled
end

local function writeMark(mark, queued, released, settled, lease)
  local text = string.format('%.0f:%.0f%s', queued, released, settled)
  redis.call('set', mark, text, 'px', lease + delayMillis)
end
