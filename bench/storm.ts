// Simulates a provider that fails for a minute at 200 requests a second, and measures the requests: U10.
// Run by: npm run bench storm [seconds] [connections]
import { createRefusal, startKeyedUpstream } from '../tests/gateway/resilience/keyed-upstream'
import { startGateway } from '../tests/harness/server'

const stormMs = Number(process.argv[2] ?? 60) * 1000
const connections = Number(process.argv[3] ?? 1)
const everyMs = 5
const calmMs = 5000
const maxRecoveryMs = 60_000

await using upstream = startKeyedUpstream()
await using gateway = await startGateway({
  environment: { LOG_LEVEL: 'warn', BREAKER_SECONDS: '30' },
})
const provider = { key: 'storm', name: 'Storm', adapter: 'openai', base_url: upstream.url }
await gateway.admin('POST', '/providers', provider)
const keys = Array.from({ length: connections }, (_, index) => `storm-key-${index}`)
for (const key of keys) {
  await gateway.admin('POST', '/connections', { name: key, provider: 'storm', api_key: key })
}
const model = 'storm/m'
const pricing = { input: 1, output: 4 }
await gateway.admin('POST', '/models', { id: model, name: 'm', category: 'chat', pricing })
const { key } = await gateway.customer()

interface Answered {
  atMs: number
  durationMs: number
  status: number
}

async function sendRequest(): Promise<Answered> {
  const atMs = performance.now()
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello.' }] }),
  })
  await response.text()
  return { atMs, durationMs: performance.now() - atMs, status: response.status }
}

/** Sends one request every 5 ms, whether or not earlier ones have been answered. */
async function load(forMs: number, isOver: () => boolean = () => false): Promise<Answered[]> {
  const running: Promise<Answered>[] = []
  const startedAt = performance.now()
  for (let count = 0; performance.now() - startedAt < forMs && !isOver(); count++) {
    const waitMs = startedAt + count * everyMs - performance.now()
    if (waitMs > 0) await Bun.sleep(waitMs)
    running.push(sendRequest())
  }
  return Promise.all(running)
}

const attempts = () => keys.reduce((sum, each) => sum + upstream.requestCount(each), 0)

function log(name: string, answered: readonly Answered[]): void {
  const times = answered.map(({ durationMs }) => durationMs).toSorted((a, b) => a - b)
  const at = (share: number) => (times[Math.floor(share * (times.length - 1))] ?? 0).toFixed(1)
  const statuses = Map.groupBy(answered, ({ status }) => status)
  const counts = [...statuses].map(([status, some]) => `${status}: ${some.length}`).join(', ')
  console.log(
    `${name}: ${answered.length} requests (${counts}); p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`,
  )
}

log('before', await load(calmMs))
const before = attempts()
for (const each of keys) upstream.answer(each, createRefusal(503))
const failed = await load(stormMs)
log('storm', failed)
const requestCount = attempts() - before
const each = (requestCount / failed.length).toFixed(4)
console.log(
  `attempts: ${requestCount} for ${failed.length} requests, ${each} a request (at most 1.2)`,
)
const [start = 0] = failed.map(({ atMs }) => atMs)
const slow = failed.filter(({ atMs }) => atMs > start + 2000).map(({ durationMs }) => durationMs)
const late = slow.toSorted((a, b) => a - b)[Math.floor(0.99 * slow.length)] ?? 0
console.log(`rejections after the first two seconds: p99 ${late.toFixed(1)} ms (at most 20)`)

for (const each of keys) upstream.answer(each)
const healedAt = performance.now()
const state = { isServed: false }
const waiting = load(maxRecoveryMs, () => state.isServed)
const watch = (async () => {
  while (!state.isServed && performance.now() - healedAt < maxRecoveryMs) {
    await Bun.sleep(50)
    const { status } = await sendRequest()
    if (status === 200) state.isServed = true
  }
})()
const answered = await waiting
await watch
const first = Math.min(...answered.filter(({ status }) => status === 200).map(({ atMs }) => atMs))
const recoveredMs = Math.min(first, performance.now()) - healedAt
console.log(`served again ${(recoveredMs / 1000).toFixed(1)} s after it worked again (at most 35)`)
log('after', await load(calmMs))
