-- Gives scripts what Redis gives them, and no more: its own functions, the libraries without what depends on more than
-- arguments, KEYS and ARGV; all of these for reading only.
--
-- Takes the functions that are in Java, and returns compile and run.
local call, endless, pack, unpackStruct, packMessage, unpackMessage = ...

-- Numbers are written with a point wherever this runs.
os.setlocale('C', 'numeric')

local shown = {
  assert = assert, error = error, ipairs = ipairs, next = next, pairs = pairs, pcall = pcall, rawequal = rawequal,
  rawget = rawget, rawset = rawset, select = select, tonumber = tonumber, tostring = tostring, type = type,
  unpack = unpack, xpcall = xpcall, string = string, table = table, math = math,
  redis = { call = call },
  struct = { pack = pack, unpack = unpackStruct },
  cmsgpack = { pack = packMessage, unpack = unpackMessage },
}
math.random, math.randomseed = nil, nil

setmetatable(shown, {
  __index = function(_, name)
    error('Script attempted to access nonexistent global variable \'' .. tostring(name) .. '\'', 2)
  end,
})
local globals = setmetatable({}, {
  __index = shown,
  __newindex = function()
    error('Attempt to modify a readonly table', 2)
  end,
})

local source = '@user_script'

local function compile(text)
  local script, failure = loadstring('return function() ' .. text .. '\nend', source)
  if not script then
    return nil, failure
  end
  return setfenv(script, globals)()
end

-- What a script fails by, with the line that it does.
local function described(failure)
  if type(failure) ~= 'table' then
    failure = { err = 'ERR ' .. tostring(failure) }
  end
  local level, place = 2, debug.getinfo(2, 'Sl')
  while place and place.source ~= source do
    level = level + 1
    place = debug.getinfo(level, 'Sl')
  end
  failure.place = place and place.source .. ':' .. place.currentline
  return failure
end

-- A script that doesn't end fails after so many instructions, in units of a million.
local most, counted = 100, 0
debug.sethook(function()
  counted = counted + 1
  if counted > most then
    endless()
  end
end, '', 1000000)

local function run(script, keyCount, ...)
  shown.KEYS, shown.ARGV = { unpack({ ... }, 1, keyCount) }, { select(keyCount + 1, ...) }
  counted = 0
  return xpcall(script, described)
end

return compile, run, string.char
