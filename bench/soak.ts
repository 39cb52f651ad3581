// Runs a mixed load for hours, and measures leaks: P02, P03.
// Run by: SOAK_MINUTES=480 npm run soak
import { openDatabase } from '../tests/harness/database'
import { residentMb } from '../tests/harness/http'
import { eventually } from '../server/testing/eventually'
import { findings } from '../tests/harness/ledger-oracle'
import { waitUntilBooked } from '../tests/harness/ledger'
import { newDataDir, startRig } from '../tests/harness/server'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'

const minutes = Number(process.env['SOAK_MINUTES'] ?? 10)
const workers = Number(process.env['SOAK_WORKERS'] ?? 32)
/** One in this many requests is abandoned by its client, and one in this many hits a provider fault. */
const abortEvery = 20
const faultEvery = 20
/** Initial heap growth is not a leak. */
const warmShare = 0.25
/** A trend over a shorter time is not significant. */
const judgedMinutes = 60
const promisedMbAnHour = 1
const collections = 20
const reportedTypes = 16

/** Faults of providers, beside complete answers and streams. */
const faults = ['status-500', 'rst-after-3', 'half-json', 'close-after-2', 'empty-200']

const dataDir = await newDataDir()
await using rig = await startRig({
  dataDir,
  preload: join(import.meta.dir, 'live-heap.ts'),
  environment: { LOG_LEVEL: 'fatal', MINIMUM_BALANCE_USD: '0' },
})
const { gateway, upstream } = rig
const names = ['chunks-5', 'chunks-40-gap-10', ...faults]
const models = new Map<string, string>()
for (const name of names) models.set(name, await rig.model(name))
const customers = [await gateway.customer()]
for (let count = 1; count < 8; count++) customers.push(await gateway.customer())

const counts = { whole: 0, left: 0, failed: 0 }

async function sendRequest(index: number): Promise<void> {
  const { key } = customers[index % customers.length] ?? { key: '' }
  const isAborted = index % abortEvery === 0
  const isFault = index % faultEvery === 1
  const plain = index % 3 === 0 ? 'chunks-5' : 'chunks-40-gap-10'
  const name = isFault ? (faults[index % faults.length] ?? plain) : plain
  const leaving = new AbortController()
  try {
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: models.get(name),
        messages: [{ role: 'user', content: 'Say something.' }],
        stream: index % 2 === 0 || isAborted,
      }),
      signal: leaving.signal,
    })
    if (isAborted) setTimeout(() => leaving.abort(), 1 + (index % 97))
    const text = await response.text()
    counts[response.ok && !text.includes('"error"') ? 'whole' : 'failed'] += 1
  } catch {
    counts[isAborted ? 'left' : 'failed'] += 1
  }
  // The fake provider keeps all its requests, in this process.
  if (index % 5000 === 0) upstream.reset()
}

interface Sample {
  hours: number
  mb: number
  handles: number
}

interface Live {
  hours: number
  mb: number
  types: Record<string, number>
}

/** Measures the reachable heap: unlike resident memory it does not vary with the load. */
async function liveHeap(): Promise<Live> {
  const from = gateway.output().length
  process.kill(gateway.pid, 'SIGUSR2')
  for (;;) {
    await Bun.sleep(20)
    const [, bytes, types] = /LIVE (\d+) (\{.*\})\n/.exec(gateway.output().slice(from)) ?? []
    if (types === undefined) continue
    return { hours: elapsedHours(), mb: Number(bytes) / 1e6, types: JSON.parse(types) }
  }
}

const handlesOf = (pid: number) =>
  Bun.spawnSync(['ls', `/proc/${pid}/fd`])
    .stdout.toString()
    .split('\n').length

/** Fits a line through the samples by least squares, and returns its slope. */
function slope<At extends { hours: number }>(samples: readonly At[], of: (sample: At) => number) {
  const mean = (value: (sample: At) => number) =>
    samples.reduce((sum, each) => sum + value(each), 0) / samples.length
  const [x, y] = [mean(({ hours }) => hours), mean(of)]
  const above = samples.reduce((sum, each) => sum + (each.hours - x) * (of(each) - y), 0)
  const below = samples.reduce((sum, { hours }) => sum + (hours - x) ** 2, 0)
  return below === 0 ? 0 : above / below
}

const startedAt = performance.now()
const elapsedHours = () => (performance.now() - startedAt) / 3_600_000
const samples: Sample[] = []
const sample = () =>
  samples.push({
    hours: elapsedHours(),
    mb: residentMb(gateway.pid),
    handles: handlesOf(gateway.pid),
  })
const state = { isOver: false, index: 0 }
const work = Array.from({ length: workers }, async () => {
  while (!state.isOver) await sendRequest(state.index++)
})
const everyMs = Math.max(1000, Math.min(10_000, minutes * 600))
const live: Live[] = []
while (elapsedHours() * 60 < minutes) {
  await Bun.sleep(everyMs)
  sample()
  // A server does not collect on command: rarely, to change little.
  if (elapsedHours() * 60 < (live.length + 1) * (minutes / collections)) continue
  live.push(await liveHeap())
}
state.isOver = true
await Promise.all(work)
await eventually(() => upstream.openSockets() <= workers, 60_000)
const sockets = upstream.openSockets()
await Bun.sleep(5000)
sample()

await using sql = await openDatabase(dataDir)
await waitUntilBooked(sql, counts.whole)
const wrong = await findings(sql)
const judged = samples.filter(({ hours }) => hours * 60 > minutes * warmShare)
const mbAnHour = slope(judged, ({ mb }) => mb)
const handlesAnHour = slope(judged, ({ handles }) => handles)
const judgedLive = live.filter(({ hours }) => hours * 60 > minutes * warmShare)
const liveAnHour = slope(judgedLive, ({ mb }) => mb)
/** Types with more objects at the end, by the difference. */
const grown = Object.entries(judgedLive.at(-1)?.types ?? {})
  .map(([type, count]) => ({ type, more: count - (judgedLive[0]?.types[type] ?? 0) }))
  .filter(({ more }) => more > 0)
  .toSorted((one, other) => other.more - one.more)
  .slice(0, reportedTypes)
const requests = counts.whole + counts.left + counts.failed
const liveBytes = (liveAnHour * elapsedHours() * 1e6) / requests
console.log(
  [
    `${minutes} min, ${requests} requests: ${counts.whole} whole, ${counts.left} left, ${counts.failed} failed`,
    `resident: ${judged[0]?.mb.toFixed(0)} MB at first, ${judged.at(-1)?.mb.toFixed(0)} at last; line ${mbAnHour.toFixed(2)} MB an hour`,
    `live heap: ${judgedLive.map(({ mb }) => mb.toFixed(1)).join(', ')} MB; line ${liveAnHour.toFixed(2)} MB an hour, ${liveBytes.toFixed(1)} bytes a request`,
    `more of them than at first: ${grown.map(({ type, more }) => `${type} ${more}`).join(', ')}`,
    `handles: ${judged[0]?.handles} at first, ${judged.at(-1)?.handles} at last; line ${handlesAnHour.toFixed(1)} an hour; ${sockets} open to the provider`,
    `ledger: ${wrong.length === 0 ? 'in order' : wrong.join('; ')}`,
  ].join('\n'),
)
const isJudged = minutes >= judgedMinutes
if (!isJudged) console.log(`a line through less than ${judgedMinutes} min is shown, not judged`)
if (wrong.length > 0 || (isJudged && mbAnHour > promisedMbAnHour)) process.exitCode = 1
await gateway.stop()
await rm(dataDir, { recursive: true, force: true })
