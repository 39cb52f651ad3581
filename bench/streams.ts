// Measures the memory of 1,000 open streams, and what 20,000 aborted ones leave behind.
// Run by: npm run bench streams
import { connectionsTo, residentMb, startBenchGateway, type BenchGateway } from './bench-gateway'

const openStreams = 1000
const abortedStreams = 20_000
const concurrency = 200

const request = (bench: BenchGateway, model: string, signal: AbortSignal) =>
  fetch(`${bench.gateway.url}/v1/chat/completions`, {
    method: 'POST',
    signal,
    headers: { authorization: `Bearer ${bench.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model,
      stream: true,
      max_tokens: 4096,
      messages: [{ role: 'user', content: 'Tell me a long story.' }],
    }),
  })

/** Opens one stream, reads `pieces` pieces of it, then disconnects. */
async function abandon(bench: BenchGateway, model: string, pieces: number): Promise<void> {
  const leaving = new AbortController()
  const response = await request(bench, model, leaving.signal)
  if (!response.ok) throw new Error(`status ${response.status}: ${await response.text()}`)
  const reader = response.body?.getReader()
  for (let piece = 0; piece < pieces; piece++) await reader?.read()
  leaving.abort()
  await reader?.cancel().catch(() => undefined)
}

async function measureOpen(bench: BenchGateway): Promise<void> {
  const model = await bench.model('rate-20')
  const idleMb = residentMb(bench.gateway.pid)
  const leaving = new AbortController()
  let chunks = 0
  const reading = Array.from({ length: openStreams }, async () => {
    const response = await request(bench, model, leaving.signal)
    for await (const piece of response.body ?? []) {
      chunks += new TextDecoder().decode(piece).split('data: ').length - 1
    }
  })
  const samples: number[] = []
  for (let second = 0; second < 15; second++) {
    await Bun.sleep(1000)
    samples.push(residentMb(bench.gateway.pid))
  }
  const open = connectionsTo(bench.upstreamPort)
  leaving.abort()
  await Promise.allSettled(reading)
  console.log(`open streams: ${open} connections to the provider, ${chunks} chunks read in 15 s`)
  console.log(`resident: ${idleMb} MB idle, ${Math.max(...samples)} MB at most with them open`)
}

async function measureAborted(bench: BenchGateway): Promise<void> {
  const model = await bench.model('rate-200')
  console.log('aborted streams, resident memory, connections to the provider:')
  for (let done = 0; done < abortedStreams;) {
    const lanes = Array.from({ length: concurrency }, async () => {
      for (let run = 0; run < 10; run++) await abandon(bench, model, 2)
    })
    await Promise.all(lanes)
    done += concurrency * 10
    if (done % 4000 > 0) continue
    await Bun.sleep(2000)
    const memory = residentMb(bench.gateway.pid)
    console.log(`  ${done}: ${memory} MB, ${connectionsTo(bench.upstreamPort)}`)
  }
  await Bun.sleep(5000)
  const memory = residentMb(bench.gateway.pid)
  console.log(`  5 s later: ${memory} MB, ${connectionsTo(bench.upstreamPort)}`)
}

await using bench = await startBenchGateway()
await measureOpen(bench)
await measureAborted(bench)
