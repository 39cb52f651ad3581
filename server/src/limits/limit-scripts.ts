import { windowMs, slotMs } from './sliding-window'
import { toScript } from '../platform/redis'

/**
 * `SlidingWindow` in Lua, function by function: the clock is Redis's own, or a test's in its place. A window is one
 * packed value: the time it has reached, how far the clock was set back, the last addition to each slot, and the
 * slot's count.
 */
const slidingWindow = `
local windowMs, slotMs = ${windowMs}, ${slotMs}
local function slotOf(ms) return math.floor(ms / slotMs) end
local function open(key)
  local raw = redis.call('GET', key)
  local kept = raw and cmsgpack.unpack(raw) or {0, 0, {}, {}}
  local window = {key = key, now = kept[1], lag = kept[2], times = kept[3], weights = kept[4], used = 0}
  if clockMs + window.lag < window.now then window.lag = window.now - clockMs end
  window.now = clockMs + window.lag
  local first, count = 1, #window.times
  while first <= count and window.times[first] <= window.now - windowMs do first = first + 1 end
  -- Mostly none has been let go since, and nothing is moved.
  if first > 1 then
    window.times, window.weights = {}, {}
    for i = first, count do
      window.times[i - first + 1], window.weights[i - first + 1] = kept[3][i], kept[4][i]
    end
  end
  for i = 1, #window.weights do window.used = window.used + window.weights[i] end
  return window
end
local function close(window)
  local kept = {window.now, window.lag, window.times, window.weights}
  redis.call('SET', window.key, cmsgpack.pack(kept), 'PX', windowMs + 1000)
end
local function resetMs(window)
  return window.times[1] and window.times[1] + windowMs - window.now or 0
end
local function waitMs(window, weight, limit)
  local excess = window.used + weight - limit
  if excess <= 0 then return 0 end
  if weight > limit then return -1 end
  for i, held in ipairs(window.weights) do
    excess = excess - held
    if excess <= 0 then return window.times[i] + windowMs - window.now end
  end
end
local function add(window, weight)
  if weight == 0 then return end
  local last = #window.times
  if last > 0 and slotOf(window.times[last]) == slotOf(window.now) then
    window.times[last] = window.now
    window.weights[last] = window.weights[last] + weight
  else
    table.insert(window.times, window.now)
    table.insert(window.weights, weight)
  end
  window.used = window.used + weight
end
local function correct(window, slot, delta)
  if delta >= 0 then return add(window, delta) end
  for i = #window.times, 1, -1 do
    if slotOf(window.times[i]) == slot then
      local given = math.min(window.weights[i], -delta)
      window.used = window.used - given
      window.weights[i] = window.weights[i] - given
      if window.weights[i] == 0 then
        table.remove(window.times, i)
        table.remove(window.weights, i)
      end
      return
    end
  end
end
`

const redisClock = `
local time = redis.call('TIME')
local clockMs = time[1] * 1000 + math.floor(time[2] / 1000)
`

/** The lifetime of a running request's place, unless it is renewed. */
export const placeLifeMs = 120_000

/**
 * Takes and ends several requests, in their order. KEYS: the keys that they name. ARGV: a JSON list of them, keys by
 * their positions in KEYS:
 *
 * - `[1, weight, id, windows, limits, places, limits]` takes all or nothing. Its answer is a list: the key that
 *   refused, from 1, or 0; milliseconds to wait, -1 for ever; then for each window its use, its reset, its slot.
 * - `[0, delta, id, windows, slots, places]` ends one that was taken. Its answer is 0.
 *
 * Answers a JSON list, with null for a request that failed: the others are not affected.
 */
export const batchText = `
local opened, order = {}, {}
local function windowOf(at)
  if not opened[at] then
    opened[at] = open(KEYS[at])
    table.insert(order, opened[at])
  end
  return opened[at]
end
local function takePlaces(id, places, limits)
  for i, at in ipairs(places) do
    local key = KEYS[at]
    redis.call('ZREMRANGEBYSCORE', key, '-inf', clockMs)
    -- A clock that was set back would keep what nobody renews for as long.
    redis.call('ZREMRANGEBYSCORE', key, clockMs + ${placeLifeMs} + 10000, '+inf')
    if redis.call('ZCARD', key) >= limits[i] then return i end
  end
  for _, at in ipairs(places) do
    redis.call('ZADD', KEYS[at], clockMs + ${placeLifeMs}, id)
    redis.call('PEXPIRE', KEYS[at], ${placeLifeMs})
  end
  return 0
end
local function take(weight, id, windows, limits, places, mosts)
  local refusedBy, longest = 0, 0
  for i, at in ipairs(windows) do
    local wait = weight > 0 and waitMs(windowOf(at), weight, limits[i]) or 0
    if wait == -1 then wait = math.huge end
    if wait > longest then refusedBy, longest = i, wait end
  end
  if refusedBy == 0 then
    refusedBy = takePlaces(id, places, mosts)
    if refusedBy > 0 then refusedBy = refusedBy + #windows end
  end
  local answer = {refusedBy, longest == math.huge and -1 or longest}
  for _, at in ipairs(windows) do
    local window = windowOf(at)
    if refusedBy == 0 then add(window, weight) end
    table.insert(answer, window.used)
    table.insert(answer, resetMs(window))
    table.insert(answer, slotOf(window.now))
  end
  return answer
end
local function finish(delta, id, windows, slots, places)
  for i, at in ipairs(windows) do correct(windowOf(at), slots[i], delta) end
  for _, at in ipairs(places) do redis.call('ZREM', KEYS[at], id) end
  return 0
end
local answers = {}
for i, one in ipairs(cjson.decode(ARGV[1])) do
  local kind = table.remove(one, 1)
  local isDone, answer = pcall(kind == 1 and take or finish, unpack(one))
  answers[i] = isDone and answer or cjson.null
end
-- Together: what is not written down would be granted for nothing.
for _, window in ipairs(order) do close(window) end
return cjson.encode(answers)
`

/** KEYS: windows, then places. ARGV: number of windows. Answers the use and the reset of each, and writes nothing. */
const lookText = `
local answer = {}
for i, key in ipairs(KEYS) do
  if i <= tonumber(ARGV[1]) then
    local window = open(key)
    table.insert(answer, window.used)
    table.insert(answer, resetMs(window))
  else
    table.insert(answer, redis.call('ZCOUNT', key, '(' .. clockMs, '+inf'))
    table.insert(answer, 0)
  end
end
return answer
`

const renewText = `
for _, key in ipairs(KEYS) do
  redis.call('ZADD', key, clockMs + ${placeLifeMs}, ARGV[1])
  redis.call('PEXPIRE', key, ${placeLifeMs})
end
return 0
`

/** The time after which a node without a heartbeat counts as gone. */
const nodeLifeMs = 15_000

const heartbeatText = `
redis.call('ZADD', KEYS[1], clockMs + ${nodeLifeMs}, ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', clockMs)
redis.call('ZREMRANGEBYSCORE', KEYS[1], clockMs + ${nodeLifeMs} + 10000, '+inf')
return redis.call('ZCARD', KEYS[1])
`

const leaveText = `return redis.call('ZREM', KEYS[1], ARGV[1])`

/** A script that counts, by Redis's clock or by a given one. */
export const counting = (text: string, clock = redisClock) => toScript(clock + slidingWindow + text)

export const batchScript = counting(batchText)
export const lookScript = counting(lookText)
/** KEYS: places. ARGV: id of the request. */
export const renewScript = toScript(redisClock + renewText)
/** KEYS: nodes. ARGV: id of the node. Answers the number of nodes. */
export const heartbeatScript = toScript(redisClock + heartbeatText)
export const leaveScript = toScript(leaveText)
