import { afterAll, beforeAll, expect, test, setDefaultTimeout } from 'bun:test'
import { join } from 'node:path'
import { newChatClient, messages, parsed, residentMb, type ChatClient } from '../../harness/http'
import { eventually, eventuallyReads } from '../../../server/testing/eventually'
import { internalUrl, scrape, scrapeWhenBooked } from '../../harness/scrape'
import { newApiKey } from '../../../server/src/auth/api-key'
import { startRig, type Rig } from '../../harness/server'
import { recordFigure } from '../../../server/testing/figures'

// A busy machine takes long to start one.
setDefaultTimeout(90_000)

let rig: Rig
let client: ChatClient

beforeAll(async () => {
  rig = await startRig({
    preload: join(import.meta.dir, 'preloads/live-objects.ts'),
    environment: {
      METRICS_PORT: '0',
      LOG_REQUESTS: 'false',
      // What the engine keeps for code goes with each collection; it would hide a thousand strings.
      BUN_JSC_forceCodeBlockToJettisonDueToOldAge: '1',
    },
  })
  client = await newChatClient(rig)
  await rig.model('ok')
})
afterAll(() => rig[Symbol.asyncDispose]())

/** What the engine keeps for code comes and goes by itself. */
const ofCode = /Code|Executable|Structure|SymbolTable|Descriptor|Butterfly|Watchpoint|Cache/

interface Live {
  /** Objects by their type, but for those of code. */
  types: [type: string, count: number][]
  /** In the caches that have bounds and are told as metrics; each is an object and its key a string. */
  entries: number
}

/** Returns the gateway's live objects after garbage collection. */
async function live(): Promise<Live> {
  const { gateway } = rig
  const reports = () => [...gateway.output().matchAll(/live: (\{.*\})\n/g)]
  const before = reports().length
  process.kill(gateway.pid, 'SIGWINCH')
  await eventually(() => reports().length > before)
  const metrics = await scrape(await internalUrl(gateway))
  return {
    types: Object.entries(parsed(reports().at(-1)?.[1] ?? '')).flatMap(([type, count]) =>
      ofCode.test(type) ? [] : [[type, Number(count)]],
    ),
    entries: metrics.sum('tollgate_cache_entries'),
  }
}

/** The types of which there are more objects than before, by more than `most` beside what caches have. */
function left(before: Live, now: Live, maxLeft: number): string[] {
  const known = new Map(before.types)
  const cached = Math.max(0, now.entries - before.entries)
  return now.types.flatMap(([type, count]) => {
    const more = count - (known.get(type) ?? 0) - cached
    return more > maxLeft ? [`${type}: ${more}`] : []
  })
}

/** What is left behind after a while: the last request logs are written, promises are done. */
async function leftSince(before: Live, maxLeft: number): Promise<string[]> {
  const look = async () => left(before, await live(), maxLeft)
  return eventuallyReads(look, ({ length }) => length === 0)
}

/** `UNIQUE=1000000` for what is promised, which takes a while. */
const unique = Number(process.env['UNIQUE'] ?? 3000)

test(
  `P04: ${unique} unknown models, keys and end users leave nothing behind`,
  async () => {
    const { gateway } = rig
    const send = async (index: number) => {
      const key = index % 3 === 0 ? newApiKey() : client.customer.key
      const response = await fetch(`${gateway.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          model: index % 3 === 1 ? `fake/unheard-of-${index}` : 'fake/ok',
          messages,
          user: `user-${index}`,
          metadata: { trace: `trace-${index}` },
        }),
      })
      await response.text()
      return response.status
    }
    const round = async (from: number, count: number) => {
      const statuses = new Set<number>()
      for (let index = from; index < from + count; index += 50) {
        const some = Array.from({ length: 50 }, (_, each) => send(index + each))
        for (const status of await Promise.all(some)) statuses.add(status)
      }
      rig.upstream.reset()
      return statuses
    }
    // What is compiled, and what the first requests leave, is not what is asked here.
    expect(await round(0, 1500)).toEqual(new Set([200, 401, 404]))
    await scrapeWhenBooked(await internalUrl(gateway))
    const [before, residentBefore] = [await live(), residentMb(gateway.pid)]
    expect(before.types.length).toBeGreaterThan(10)
    await round(1500, unique)
    expect(await leftSince(before, unique / 10)).toEqual([])
    const grown = residentMb(gateway.pid) - residentBefore
    recordFigure(`P04: memory after ${unique}`, grown, { unit: 'MB', atMost: 40 })
  },
  Math.max(90_000, 2 * unique),
)
