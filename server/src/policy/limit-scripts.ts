import { windowMs, slotMs } from './sliding-window'
import { toScript } from '../db/redis'

/**
 * `SlidingWindow` in Lua, function by function: the clock is Redis's own, or what the tests put in its
 * place. A window is one value, packed: what time it has reached, how far the clock was set back, when
 * each slot was last added to, and what it holds.
 */
const slidingWindow = `
local windowMs, slotMs = ${windowMs}, ${slotMs}
local function slotOf(ms) return math.floor(ms / slotMs) end
local function open(key)
  local raw = redis.call('GET', key)
  local kept = raw and cmsgpack.unpack(raw) or {0, 0, {}, {}}
  local window = {key = key, now = kept[1], lag = kept[2], times = {}, weights = {}, used = 0}
  if clockMs + window.lag < window.now then window.lag = window.now - clockMs end
  window.now = clockMs + window.lag
  for i, ms in ipairs(kept[3]) do
    if ms > window.now - windowMs then
      table.insert(window.times, ms)
      table.insert(window.weights, kept[4][i])
      window.used = window.used + kept[4][i]
    end
  end
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

/** Whoever runs holds a place for so long, unless it is renewed. */
export const placeLifeMs = 120_000

/**
 * KEYS: windows, then places. ARGV: number of windows, weight, id of the request, limit of each key.
 * Takes all or nothing. Answers which key refused, from 1, or 0; milliseconds to wait, -1 for ever; then
 * for each window what is used, its reset, its slot.
 */
export const takeText = `
local windowCount, weight, id = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3]
local windows, refusedBy, longest = {}, 0, 0
for i = 1, windowCount do
  windows[i] = open(KEYS[i])
  local wait = weight > 0 and waitMs(windows[i], weight, tonumber(ARGV[3 + i])) or 0
  if wait == -1 then wait = math.huge end
  if wait > longest then refusedBy, longest = i, wait end
end
if refusedBy == 0 then
  for i = windowCount + 1, #KEYS do
    redis.call('ZREMRANGEBYSCORE', KEYS[i], '-inf', clockMs)
    -- A clock that was set back would keep what nobody renews for as long.
    redis.call('ZREMRANGEBYSCORE', KEYS[i], clockMs + ${placeLifeMs} + 10000, '+inf')
    if redis.call('ZCARD', KEYS[i]) >= tonumber(ARGV[3 + i]) then refusedBy = i break end
  end
end
if refusedBy == 0 then
  for i = windowCount + 1, #KEYS do
    redis.call('ZADD', KEYS[i], clockMs + ${placeLifeMs}, id)
    redis.call('PEXPIRE', KEYS[i], ${placeLifeMs})
  end
end
local answer = {refusedBy, longest == math.huge and -1 or longest}
for i, window in ipairs(windows) do
  if refusedBy == 0 then add(window, weight) end
  close(window)
  table.insert(answer, window.used)
  table.insert(answer, resetMs(window))
  table.insert(answer, slotOf(window.now))
end
return answer
`

/**
 * KEYS: windows, then places. ARGV: number of windows. Answers for each what is used and its reset, and
 * writes nothing.
 */
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

/** KEYS: windows, then places. ARGV: number of windows, delta, id, slot of each window. */
export const endText = `
local windowCount, delta = tonumber(ARGV[1]), tonumber(ARGV[2])
for i = 1, windowCount do
  local window = open(KEYS[i])
  correct(window, tonumber(ARGV[3 + i]), delta)
  close(window)
end
for i = windowCount + 1, #KEYS do redis.call('ZREM', KEYS[i], ARGV[3]) end
return 0
`

const renewText = `
for _, key in ipairs(KEYS) do
  redis.call('ZADD', key, clockMs + ${placeLifeMs}, ARGV[1])
  redis.call('PEXPIRE', key, ${placeLifeMs})
end
return 0
`

/** A node that was not heard of for so long has gone. */
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

export const takeScript = counting(takeText)
export const endScript = counting(endText)
export const lookScript = counting(lookText)
/** KEYS: places. ARGV: id of the request. */
export const renewScript = toScript(redisClock + renewText)
/** KEYS: nodes. ARGV: id of the node. Answers how many there are. */
export const heartbeatScript = toScript(redisClock + heartbeatText)
export const leaveScript = toScript(leaveText)
