-- Gives recordOf, textOf, dropExpired and retire: what is kept of each session that uses a barrier.
--
-- A record is `<version>:<generation>:<outcome>:<resets>:<calling>:<place>,…`: the latest command; the last generation
-- in which threads of the session have been counted, what became of it (0 nothing yet, 1 tripped, 2 broken, 3 broken by
-- this session) and as which of all arrivals its threads were counted; the latest reset; whether to call it when a
-- generation ends that it isn't in.

-- The record of a session, false if there is none.
local function recordOf(name, member)
  local text = redis.call('hget', name.barrier, member) or redis.call('hget', name.gone, member)
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
local function dropExpired(name)
  local due = string.format('%.0f', name.millis)
  local dropped = redis.call('zrangebyscore', name.ending, '-inf', due, 'limit', 0, 10)
  if #dropped > 0 then
    redis.call('hdel', name.gone, unpack(dropped))
    redis.call('zrem', name.ending, unpack(dropped))
  end
end

-- Keeps the record of a session that is no member any more for as long as commands of it may be under way.
local function retire(name, member, text)
  redis.call('hdel', name.barrier, member)
  redis.call('hset', name.gone, member, text)
  redis.call('zadd', name.ending, string.format('%.0f', name.millis + name.retention), member)
  if redis.call('pttl', name.gone) < name.retention then
    redis.call('pexpire', name.gone, name.retention)
  end
  if redis.call('pttl', name.ending) < name.retention then
    redis.call('pexpire', name.ending, name.retention)
  end
end
