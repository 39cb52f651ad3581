// How many objects the gateway makes, by type: for a plain chat request, with money and limits and
// without, and for a chunk of a stream. Unlike a time, it is the same on a busy machine.
// Run by: npm run bench allocations
import { join } from 'node:path'
import { startBenchGateway, type BenchGateway } from './bench-gateway'

type Counts = ReadonlyMap<string, number>

/** What is asked for, how often, and the parts of each that are counted. */
interface Load {
  model: string
  stream: boolean
  /** Until the engine has compiled what runs often: it leaves out what nobody sees. */
  warmUp: number
  requests: number
  parts: number
}

const plain: Load = { model: 'ok', stream: false, warmUp: 30_000, requests: 640, parts: 1 }
/** Far enough apart for each to come alone. */
const chunks: Load = {
  model: 'chunks-100-gap-10',
  stream: true,
  warmUp: 320,
  requests: 32,
  parts: 100,
}
const atOnce = 32
/** A collection may fall into any of them. */
const tries = 8
/** What is made less often than that is somebody else's. */
const fewest = 0.15

async function ask({ gateway, key }: BenchGateway, load: Load, count: number): Promise<void> {
  const { model, stream } = load
  const messages = [{ role: 'user', content: 'x'.repeat(900) }]
  const body = JSON.stringify({ model: `fake/${model}`, stream, messages })
  const lanes = Array.from({ length: atOnce }, async () => {
    for (let done = 0; done < count / atOnce; done++) {
      const response = await fetch(`${gateway.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body,
      })
      if (!response.ok) throw new Error(`status ${response.status}: ${await response.text()}`)
      await response.text()
    }
  })
  await Promise.all(lanes)
}

async function countsOf({ gateway }: BenchGateway): Promise<Counts> {
  const from = gateway.output().length
  process.kill(gateway.pid, 'SIGUSR2')
  for (;;) {
    await Bun.sleep(10)
    const [, counts] = /HEAP (\{.*\})\n/.exec(gateway.output().slice(from)) ?? []
    if (counts === undefined) continue
    const parsed: object = JSON.parse(counts)
    return new Map(Object.entries(parsed).map(([type, count]) => [type, Number(count)]))
  }
}

const sum = (counts: Counts) => [...counts.values()].reduce((all, one) => all + one, 0)

/** Objects of each part of a load, by type: of the try in which least was collected. */
async function made(load: Load, ...changes: readonly string[]): Promise<Counts> {
  await using bench = await startBenchGateway({
    preload: [...changes, 'heap-counts.ts'].map((file) => join(import.meta.dir, file)),
  })
  await bench.model(load.model)
  await ask(bench, load, load.warmUp)
  let most: Counts = new Map()
  for (let count = 0; count < tries; count++) {
    const before = await countsOf(bench)
    await ask(bench, load, load.requests)
    const after = await countsOf(bench)
    const counts = new Map(
      [...after]
        .map(([type, there]) => [type, there - (before.get(type) ?? 0)] as const)
        .map(([type, more]) => [type, more / load.requests / load.parts] as const)
        .filter(([, each]) => each > fewest),
    )
    if (sum(counts) > sum(most)) most = counts
  }
  return most
}

const columns = [await made(plain), await made(plain, 'without-money.ts'), await made(chunks)]
const line = (name: string, counts: readonly number[]) =>
  console.log(counts.map((count) => count.toFixed(1).padStart(8)).join(''), name)
console.log('objects: of a plain chat request; the same without money and limits; of a chunk')
line('all', columns.map(sum))
const [everything = new Map<string, number>()] = columns
for (const [type] of [...everything].toSorted((a, b) => b[1] - a[1])) {
  line(
    type,
    columns.map((counts) => counts.get(type) ?? 0),
  )
}
