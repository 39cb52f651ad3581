// CPU time of the gateway's process for a plain chat request and for a relayed chunk, with money and
// limits and without, in turns.
// Run by: npm run bench cpu [rounds]
import { join } from 'node:path'
import { cpuByThread, cpuMicros, startBenchGateway, type BenchGateway } from './bench-gateway'

const rounds = Number(process.argv[2] ?? 5)
/** Rounds that are not counted: the engine compiles anew what runs often for some 200,000 requests. */
const warmUpRounds = 30
const plainRequests = 8000
const streams = 400
const chunksEach = 100
const atOnce = 32

async function ask(bench: BenchGateway, model: string, stream: boolean): Promise<void> {
  const response = await fetch(`${bench.gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${bench.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, stream, messages: [{ role: 'user', content: 'x'.repeat(900) }] }),
  })
  if (!response.ok) throw new Error(`status ${response.status}: ${await response.text()}`)
  for await (const _piece of response.body ?? []);
}

/** Microseconds of CPU for each of `count` requests, and how many there were in a second. */
async function measure(bench: BenchGateway, count: number, run: () => Promise<void>) {
  const before = cpuMicros(bench.gateway.pid)
  const startedAt = performance.now()
  const lanes = Array.from({ length: atOnce }, async () => {
    for (let done = 0; done < count / atOnce; done++) await run()
  })
  await Promise.all(lanes)
  const seconds = (performance.now() - startedAt) / 1000
  return { cpu: (cpuMicros(bench.gateway.pid) - before) / count, rate: count / seconds }
}

const sorted = (values: readonly number[]) => values.toSorted((a, b) => a - b)
const median = (values: readonly number[]) =>
  sorted(values)[Math.floor(values.length / 2)] ?? Number.NaN

/** One gateway, warm, and its figures so far. */
async function prepare(bench: BenchGateway) {
  const plain = await bench.model('ok')
  const streamed = await bench.model(`chunks-${chunksEach}`)
  const askPlain = () => ask(bench, plain, false)
  const askStream = () => ask(bench, streamed, true)
  for (let count = 0; count < warmUpRounds; count++) {
    await measure(bench, plainRequests, askPlain)
    await measure(bench, streams, askStream)
  }
  const figures = { plain: [] as number[], rate: [] as number[], chunk: [] as number[] }
  const threads = new Map<string, number>()
  const round = async () => {
    const before = cpuByThread(bench.gateway.pid)
    const whole = await measure(bench, plainRequests, askPlain)
    for (const [name, micros] of cpuByThread(bench.gateway.pid)) {
      const more = (micros - (before.get(name) ?? 0)) / plainRequests / rounds
      threads.set(name, (threads.get(name) ?? 0) + more)
    }
    const many = await measure(bench, streams, askStream)
    figures.plain.push(whole.cpu)
    figures.rate.push(whole.rate)
    figures.chunk.push((many.cpu - whole.cpu) / chunksEach)
  }
  return { figures, threads, round }
}

function tell(name: string, { figures, threads }: Awaited<ReturnType<typeof prepare>>): void {
  const [least = Number.NaN] = sorted(figures.plain)
  const parts = [...threads].filter(([, micros]) => micros >= 0.5)
  console.log(`${name}:`)
  console.log(
    `  plain chat: ${median(figures.plain).toFixed(0)} µs CPU a request, ${least.toFixed(0)} at least; ` +
      `${median(figures.rate).toFixed(0)} a second, ${atOnce} at once`,
  )
  console.log(
    `  by thread: ${parts.map(([thread, micros]) => `${thread} ${micros.toFixed(1)}`).join(', ')}`,
  )
  console.log(
    `  stream: ${median(figures.chunk).toFixed(1)} µs CPU a chunk beyond the request's own`,
  )
}

await using first = await startBenchGateway()
await using second = await startBenchGateway({ preload: join(import.meta.dir, 'without-money.ts') })
const everything = await prepare(first)
const without = await prepare(second)
for (let count = 0; count < rounds; count++) {
  await everything.round()
  await without.round()
}
tell('everything on', everything)
tell('without money and limits', without)
const added = median(everything.figures.plain) - median(without.figures.plain)
console.log(`money and limits: ${added.toFixed(0)} µs CPU a plain request`)
console.log(`medians of ${rounds} rounds; load, providers and gateways on this machine`)
