-- Answers, and does nothing else.
--
-- KEYS[1] any      any     routes the command
-- Reply: {1}
-- Idempotent by: reads only
local any = KEYS[1]

return { 1 }
