-- Gives heartbeatMillis, queueMillis and delayMillis: the times on which all scripts and sessions agree.

-- A waiting session is passed over if it hasn't been heard of for this long.
local heartbeatMillis = 3000

-- A queue is kept for this long after the last of those who wait has asked for that.
local queueMillis = 90000

-- No command is delayed on its way for as long as this: what refuses late commands is kept at least until then.
local delayMillis = 300000
