-- Included by the scripts of the barrier; expects the locals barrier, gone, ending, millis and retention.

-- The record of a session, false if there is none.
local function recordOf(member)
  local text = redis.call('hget', barrier, member) or redis.call('hget', gone, member)
  if not text then
    return false
  end
  local fields = {}
  fields.version, fields.generation, fields.outcome, fields.resets, fields.calling, fields.places =
    string.match(text, '^(%d+):(%d+):(%d):(%d+):(%d):([%d,]*)$')
  return fields
end

local function textOf(fields)
  return table.concat({
    fields.version, fields.generation, fields.outcome, fields.resets, fields.calling, fields.places }, ':')
end

-- Drops what is left of sessions that have gone long ago, some at a time.
local function dropExpired()
  local dropped = redis.call('zrangebyscore', ending, '-inf', string.format('%.0f', millis), 'limit', 0, 10)
  if #dropped > 0 then
    redis.call('hdel', gone, unpack(dropped))
    redis.call('zrem', ending, unpack(dropped))
  end
end

-- Keeps the record of a session that is no member any more for as long as commands of it may be under way.
local function retire(member, text)
  redis.call('hdel', barrier, member)
  redis.call('hset', gone, member, text)
  redis.call('zadd', ending, string.format('%.0f', millis + retention), member)
  if redis.call('pttl', gone) < retention then
    redis.call('pexpire', gone, retention)
    redis.call('pexpire', ending, retention)
  end
end
