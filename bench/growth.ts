// Compares the cost of a request with few rows and with many: keys, accounts, models, logs, open streams.
// Two gateways in turns, one of which is filled step by step and keeps its rows.
// Run by: npm run bench growth [a fraction of all rows, 1 by default]
import { openDatabase } from '../tests/harness/database'
import { cpuMicros, residentMb, startBenchGateway, type BenchGateway } from './bench-gateway'
import { fillAccounts, fillKeys, fillLogs, fillModels } from './growth/fill'

const part = Number(process.argv[2] ?? 1)
const many = {
  accounts: Math.round(100_000 * part),
  keys: Math.round(1_000_000 * part),
  models: Math.round(5000 * part),
  logs: Math.round(10_000_000 * part),
  streams: Math.round(5000 * part),
}
/** Keys, each of its own account, over which the requests are spread. */
const concurrency = 1000
const rounds = 5
const requests = 6000
const lanesPerSide = 32
const warmUpRounds = 6
/** Sequential requests whose latency is measured. */
const looks = 100

interface Side {
  bench: BenchGateway
  model: string
  keys: readonly string[]
}

interface RequestOptions {
  fields?: object
  signal?: AbortSignal
}

const sendRequest = (
  { bench, model }: Side,
  key: string,
  { fields, signal }: RequestOptions = {},
) =>
  fetch(`${bench.gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model,
      messages: [{ role: 'user', content: 'x'.repeat(900) }],
      ...fields,
    }),
    ...(signal && { signal }),
  })

async function readAnswer(response: Response): Promise<string> {
  const text = await response.text()
  if (!response.ok) throw new Error(`status ${response.status}: ${text}`)
  return text
}

/** Measures the CPU microseconds of a request, all keys in turn. */
async function cpuOf(side: Side): Promise<number> {
  const before = cpuMicros(side.bench.gateway.pid)
  let sent = 0
  const lanes = Array.from({ length: lanesPerSide }, async () => {
    while (sent < requests)
      await readAnswer(await sendRequest(side, side.keys[sent++ % side.keys.length] ?? ''))
  })
  await Promise.all(lanes)
  return (cpuMicros(side.bench.gateway.pid) - before) / requests
}

const median = (values: readonly number[]) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN

/** Measures the median duration of `look`, in milliseconds. */
async function timeOf(look: (at: number) => Promise<unknown>): Promise<number> {
  const times: number[] = []
  for (let at = 0; at < looks; at++) {
    const startedAt = performance.now()
    await look(at)
    times.push(performance.now() - startedAt)
  }
  return median(times)
}

const read = (side: Side, path: string) =>
  fetch(`${side.bench.gateway.url}${path}`, {
    headers: { authorization: `Bearer ${side.keys[0]}` },
  }).then(readAnswer)

/** Prints a line of the table: the cost of a request on both, and of an optional further call. */
async function log(step: string, pair: Pair, look?: Look): Promise<void> {
  const { few, lots } = pair
  await settleDown(pair)
  const [fewCpu, lotsCpu]: [number[], number[]] = [[], []]
  for (let round = 0; round < rounds; round++) {
    fewCpu.push(await cpuOf(few))
    lotsCpu.push(await cpuOf(lots))
  }
  const [fewMb, lotsMb] = [few, lots].map(({ bench }) => residentMb(bench.gateway.pid))
  const latencies = look && [
    await timeOf((at) => look.run(few, at)),
    await timeOf((at) => look.run(lots, at)),
  ]
  console.log(
    `| ${step} | ${Math.min(...fewCpu).toFixed(0)} | ${Math.min(...lotsCpu).toFixed(0)} | ` +
      `${fewMb} | ${lotsMb} | ` +
      `${look && latencies ? `${look.name}: ${latencies.map((ms) => ms.toFixed(2)).join(', ')}` : ''} |`,
  )
}

/** Sends some 30,000 requests, as new rows make the engine recompile and run a full collection. */
async function settleDown({ few, lots }: Pair): Promise<void> {
  for (let round = 0; round < warmUpRounds; round++) {
    await cpuOf(few)
    await cpuOf(lots)
  }
}

interface Pair {
  few: Side
  lots: Side
}

interface Look {
  name: string
  run: (side: Side, at: number) => Promise<unknown>
}

async function prepare(accounts: number, keys: number): Promise<Side & { fresh: string[] }> {
  const bench = await startBenchGateway({ environment: { IDLE_TIMEOUT_SECONDS: '900' } })
  const model = await bench.model('ok')
  await using sql = await openDatabase(bench.gateway.dataDir)
  await fillAccounts(sql, accounts)
  const all = await fillKeys(sql, { count: keys, accounts, concurrency: concurrency + looks })
  await sql`update plan set requests_per_minute = 100000000, tokens_per_minute = 2000000000`
  return { bench, model, keys: all.slice(0, concurrency), fresh: all.slice(concurrency) }
}

const few = await prepare(concurrency + looks, concurrency + looks)
await using _small = few.bench
const lots = await prepare(many.accounts, many.keys)
await using _lots = lots.bench
// One after the other at first: simultaneous new accounts would wait for each other's lookups.
for (const side of [few, lots])
  for (const key of side.keys) await readAnswer(await sendRequest(side, key))

console.log('| more of | CPU µs a request: few | many | MB: few | many | ms, few and many |')
console.log('|---|---|---|---|---|---|')
const firstUse: Look = {
  name: 'first request of an account',
  run: async (side, at) => {
    const fresh = side === few ? few.fresh : lots.fresh
    return readAnswer(await sendRequest(side, fresh[at] ?? ''))
  },
}
await log(`${many.accounts} accounts, ${many.keys} keys`, { few, lots }, firstUse)

await using sql = await openDatabase(lots.bench.gateway.dataDir)
await fillModels(sql, lots.model, many.models)
await Bun.sleep(2000)
const list: Look = { name: 'GET /v1/models', run: (side) => read(side, '/v1/models') }
await log(`${many.models} models`, { few, lots }, list)

await fillLogs(sql, many.logs, concurrency)
const logs: Look = {
  name: 'GET /api/account/request-logs',
  run: (side) => read(side, '/api/account/request-logs?limit=50'),
}
await log(`${many.logs} request logs`, { few, lots }, logs)

const leaving = new AbortController()
const silent = await lots.bench.model('stall-after')
const opened = await Promise.allSettled(
  Array.from({ length: many.streams }, (_, at) =>
    sendRequest({ ...lots, model: silent }, lots.keys[at % concurrency] ?? '', {
      fields: { stream: true },
      signal: leaving.signal,
    }),
  ),
)
const open = opened.filter((each) => each.status === 'fulfilled' && each.value.ok).length
await log(`${open} open streams`, { few, lots })
leaving.abort()
