-- Runs a script on a real Redis as if it were another time there, and tells what it leaves behind. Keys that have a TTL
-- are given it anew, since Redis' own time goes on between two scripts, and keep none until the next one.
--
-- ARGV: the time in µs; how many subscribers each channel has; how many KEYS, and how many of the rest of ARGV, are
-- those of the script; these arguments; of each other of KEYS its TTL, less than 0 if it has expired.
-- Reply: {1 or 0 if it has failed, its reply or what it has failed by, messages, of each key {key, TTL, type, content}}
local server, keys, arguments = redis, {}, {}
local micros, subscribers, keyCount, argumentCount =
  tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
for i = 1, keyCount do
  keys[i] = KEYS[i]
end
for i = 1, argumentCount do
  arguments[i] = ARGV[4 + i]
end

-- The TTLs that keys were given in this script. Time goes on while it runs, and PEXPIRE deletes a key whose time is
-- over when it has read the clock once more: so they are given longer ones.
local given, mostMillis = {}, 1000
for i = keyCount + 1, #KEYS do
  local ttl = tonumber(ARGV[4 + argumentCount + i - keyCount])
  if ttl < 0 then
    redis.call('del', KEYS[i])
  else
    redis.call('pexpire', KEYS[i], ttl + mostMillis)
    given[KEYS[i]] = ttl
  end
end

local function ttlOf(key)
  local ttl, exact = server.call('pttl', key), given[key]
  return ttl >= 0 and exact and math.abs(ttl - exact) <= mostMillis and exact or ttl
end

local messages = {}
local instead = {
  time = function()
    return { string.format('%.0f', math.floor(micros / 1000000)), string.format('%.0f', micros % 1000000) }
  end,
  pttl = ttlOf,
  pexpire = function(key, ttl)
    local reply = server.call('pexpire', key, ttl)
    given[key] = tonumber(ttl)
    return reply
  end,
  set = function(key, value, ...)
    -- With 'get' it may fail, and leaves the TTL as it was.
    local reply = server.call('set', key, value, ...)
    local options = { ... }
    for i, option in ipairs(options) do
      if option == 'px' then
        given[key] = tonumber(options[i + 1])
      end
    end
    return reply
  end,
  hrandfield = function(key)
    return server.call('hrandfield', key) and server.call('hkeys', key)[1]
  end,
  publish = function(channel, message)
    messages[#messages + 1] = channel .. ' ' .. message
    return subscribers
  end,
  pubsub = function(verb, channel)
    if verb == 'channels' then
      return subscribers > 0 and { (string.gsub(channel, '%*$', 'somebody')) } or {}
    end
    return { channel, subscribers }
  end,
}
instead.spublish = instead.publish

local function script(redis, KEYS, ARGV)
  -- @script
end

local redis = {
  call = function(command, ...)
    if instead[command] then
      return instead[command](...)
    end
    return server.call(command, ...)
  end,
}
local isDone, reply = pcall(script, redis, keys, arguments)
if not isDone then
  reply = type(reply) == 'table' and reply.err or tostring(reply)
end

local function printable(text)
  return (string.gsub(text, '[%c%s\\\128-\255]', function(byte)
    return string.format('\\x%02x', string.byte(byte))
  end))
end

local contents = {
  string = function(key)
    return { server.call('get', key) }
  end,
  hash = function(key)
    return server.call('hgetall', key)
  end,
  zset = function(key)
    return server.call('zrange', key, 0, -1, 'withscores')
  end,
}
local state = {}
for _, key in ipairs(server.call('keys', '*')) do
  local kind = server.call('type', key).ok
  local content = contents[kind](key)
  for i = 1, #content do
    content[i] = printable(content[i])
  end
  state[#state + 1] = { key, ttlOf(key), kind, content }
  server.call('persist', key)
end
return { isDone and 1 or 0, reply, messages, state }
