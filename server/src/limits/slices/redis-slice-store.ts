import { toMoment, toRecall, toSlices } from './stored-slices'
import type {
  Heartbeat,
  Recall,
  SliceStore,
  SliceWrite,
  StoreMoment,
  StoredSlices,
} from './slice-store'
import { generateIdBody } from '../../platform/db/id'
import { Redis, toScript } from '../../platform/redis'
import { RedisSubscription } from '../../platform/redis-subscription'

interface Options {
  url: string
  onRecall: (recall: Recall) => void
  onError: (error: Error) => void
  onBack: () => void
}

/** The lifetime of a document that no node states again, in seconds: each does once a minute. */
const documentSeconds = 300
/** A node that was silent for so long is removed. Milliseconds. */
const nodeLifeMs = 600_000

/** The timeout of a command: a request waits for one only where its node's slice does not suffice. */
const deadlineMs = 80

const epochKey = 'tollgate:slices:epoch'
const nodesKey = 'tollgate:slices:nodes'
const channel = 'tollgate:slices:recalls'
const keyOf = (bucket: string) => `tollgate:slices:${bucket}`

/**
 * Begins each script: the clock, which never runs backwards, and the epoch, which begins anew where Redis has lost it.
 * KEYS[1]: the epoch. ARGV[1]: the id of a new one. An answer begins with `nowMs, epoch, sinceMs, hasLostSlices`.
 */
const begin = `
local time = redis.call('TIME')
local clockMs = time[1] * 1000 + math.floor(time[2] / 1000)
local kept = redis.call('HMGET', KEYS[1], 'id', 'since', 'lost', 'now', 'lag')
local id, since, lost, lag = kept[1], tonumber(kept[2]), kept[3], tonumber(kept[5] or 0)
local now = clockMs + lag
local last = tonumber(kept[4] or 0)
if now < last then lag, now = last - clockMs, last end
if not id then
  id, since, lost = ARGV[1], now, '0'
  redis.call('HSET', KEYS[1], 'id', id, 'since', since, 'lost', lost)
end
if now - last >= 1000 then redis.call('HSET', KEYS[1], 'now', now, 'lag', lag) end
local answer = {now, id, since, lost}
`

/** KEYS: the epoch, then documents. The answer has the text of each, or an empty one. */
const readScript = toScript(`${begin}
for i = 2, #KEYS do answer[i + 3] = redis.call('GET', KEYS[i]) or '' end
return answer`)

/** A document is stored behind its version and a colon. KEYS: documents. ARGV: for each the version read, and the text. */
const writeScript = toScript(`
local answer = {}
for i, key in ipairs(KEYS) do
  local held = redis.call('GET', key)
  local version = held and string.match(held, '^%d+') or '0'
  if version == ARGV[i * 2 - 1] then
    redis.call('SET', key, (version + 1) .. ':' .. ARGV[i * 2], 'EX', ${documentSeconds})
    answer[i] = 1
  else
    answer[i] = 0
  end
end
return answer`)

/** KEYS: the epoch, the nodes. ARGV: a new epoch, the node, the epoch that it knew or nothing. */
const beatScript = toScript(`${begin}
if ARGV[3] ~= '' and ARGV[3] ~= id then
  lost = '1'
  redis.call('HSET', KEYS[1], 'lost', lost)
end
answer[4] = lost
redis.call('HSET', KEYS[2], ARGV[2], now)
for i, value in ipairs(redis.call('HGETALL', KEYS[2])) do answer[i + 4] = value end
for i = 6, #answer, 2 do
  if now - answer[i] > ${nodeLifeMs} then redis.call('HDEL', KEYS[2], answer[i - 1]) end
end
return answer`)

const leaveScript = toScript(`return redis.call('HDEL', KEYS[1], ARGV[1])`)

const recallScript = toScript(`
for _, recall in ipairs(ARGV) do redis.call('PUBLISH', KEYS[1], recall) end
return #ARGV`)

const probe = (redis: Redis) => redis.evaluate(readScript, [epochKey], [generateIdBody()])

/** Keeps slices in Redis or Valkey. It needs no persistence: nodes state their slices again in one that was emptied. */
export class RedisSliceStore implements SliceStore, Disposable {
  readonly kind = 'redis'
  readonly #redis: Redis
  readonly #subscription: RedisSubscription

  constructor({ url, onRecall, onError, onBack }: Options) {
    this.#redis = new Redis(url, { deadlineMs, probe, onError, onBack })
    const onMessage = (text: string) => {
      const recall = toRecall(text)
      if (recall) onRecall(recall)
    }
    this.#subscription = new RedisSubscription({ url, channel, onMessage })
  }

  get isAway(): boolean {
    return this.#redis.isAway
  }

  async read(buckets: readonly string[]): Promise<StoreMoment & { slices: StoredSlices[] }> {
    const keys = [epochKey, ...buckets.map(keyOf)]
    const answer = await this.#redis.run(readScript, keys, [generateIdBody()])
    const [moment, texts] = toMoment(answer)
    return { ...moment, slices: texts.map(toSlices) }
  }

  async write(writes: readonly SliceWrite[]): Promise<boolean[]> {
    const keys = writes.map(({ bucket }) => keyOf(bucket))
    const args = writes.flatMap(({ version, document }) => [version, JSON.stringify(document)])
    const answer = await this.#redis.run(writeScript, keys, args)
    return Array.isArray(answer) ? answer.map((one) => Number(one) === 1) : []
  }

  async beat(node: string, epoch = ''): Promise<Heartbeat> {
    const args = [generateIdBody(), node, epoch]
    const [moment, pairs] = toMoment(await this.#redis.run(beatScript, [epochKey, nodesKey], args))
    const seenAtMs = new Map<string, number>()
    for (let at = 0; at < pairs.length; at += 2)
      seenAtMs.set(pairs[at] ?? '', Number(pairs[at + 1]))
    return { ...moment, seenAtMs }
  }

  async leave(node: string): Promise<void> {
    await this.#redis.run(leaveScript, [nodesKey], [node])
  }

  async recall(recalls: readonly Recall[]): Promise<void> {
    await this.#redis.run(
      recallScript,
      [channel],
      recalls.map((one) => JSON.stringify(one)),
    )
  }

  [Symbol.dispose](): void {
    this.#subscription[Symbol.dispose]()
    this.#redis[Symbol.dispose]()
  }
}
