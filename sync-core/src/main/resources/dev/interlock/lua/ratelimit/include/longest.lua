-- Gives longest: the longest time that is told, in µs.

-- What takes longer than 285 years is told as that, so that it is a whole number to everybody.
local longest = 9007199254740992
