// CPU time of the gateway's process for a plain chat request and for a relayed chunk.
// Run by: npm run bench cpu
import { cpuMicros, startBenchGateway, type BenchGateway } from './bench-gateway'

const rounds = 5
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

/** Microseconds of CPU for each of `count` requests. */
async function cpuPerRequest(bench: BenchGateway, count: number, run: () => Promise<void>) {
  const before = cpuMicros(bench.gateway.pid)
  const startedAt = performance.now()
  const lanes = Array.from({ length: atOnce }, async () => {
    for (let done = 0; done < count / atOnce; done++) await run()
  })
  await Promise.all(lanes)
  const seconds = (performance.now() - startedAt) / 1000
  return { cpu: (cpuMicros(bench.gateway.pid) - before) / count, rate: count / seconds }
}

const median = (values: readonly number[]) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN

await using bench = await startBenchGateway()
const plain = await bench.model('ok')
const streamed = await bench.model(`chunks-${chunksEach}`)
await cpuPerRequest(bench, 2000, () => ask(bench, plain, false))
await cpuPerRequest(bench, 64, () => ask(bench, streamed, true))
const figures = { plain: [] as number[], rate: [] as number[], chunk: [] as number[] }
for (let round = 0; round < rounds; round++) {
  const whole = await cpuPerRequest(bench, plainRequests, () => ask(bench, plain, false))
  const many = await cpuPerRequest(bench, streams, () => ask(bench, streamed, true))
  figures.plain.push(whole.cpu)
  figures.rate.push(whole.rate)
  figures.chunk.push((many.cpu - whole.cpu) / chunksEach)
}
console.log(`plain chat: ${median(figures.plain).toFixed(0)} µs CPU a request`)
console.log(`plain chat: ${median(figures.rate).toFixed(0)} requests a second, ${atOnce} at once`)
console.log(`stream: ${median(figures.chunk).toFixed(1)} µs CPU a chunk beyond the request's own`)
console.log(`medians of ${rounds} rounds; load, provider and gateway on this machine`)
