import { join } from 'node:path'
import { startBenchGateway, type BenchGateway } from './bench-gateway'

/** Objects a request, by type. */
export type ObjectCounts = ReadonlyMap<string, number>

/** The objects in the heap before and after a collection, by type. */
interface HeapCounts {
  found: Record<string, number>
  left: Record<string, number>
}

/** Warm-up until the engine has compiled hot code: compiled code allocates fewer objects. */
const warmUpRequests = 30_000
const requests = 640
/** Disables garbage collection between two counts: neither when idle, nor before the heap has 2 GB. */
const environment = { BUN_GC_TIMER_DISABLE: '1', BUN_JSC_largeHeapSize: '2000000000' }
const concurrency = 32
const tries = 15
/** Types with fewer objects a request than this belong to other work. */
const fewest = 0.15

async function sendRequests(
  { gateway, key }: BenchGateway,
  model: string,
  count: number,
): Promise<void> {
  const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'x'.repeat(900) }] })
  const lanes = Array.from({ length: concurrency }, async () => {
    for (let done = 0; done < count / concurrency; done++) {
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

async function countHeap({ gateway }: BenchGateway): Promise<HeapCounts> {
  const from = gateway.output().length
  process.kill(gateway.pid, 'SIGUSR2')
  for (;;) {
    await Bun.sleep(10)
    const [, counts] = /HEAP (\{.*\})\n/.exec(gateway.output().slice(from)) ?? []
    if (counts !== undefined) return JSON.parse(counts)
  }
}

/** Sums the objects of all types. */
export const sumObjects = (counts: ObjectCounts) =>
  [...counts.values()].reduce((all, one) => all + one, 0)

/**
 * Counts the objects that a gateway allocates for a plain chat request: the median of several runs, as compiling allocates too.
 * Unlike a time, the count is nearly the same on a busy machine. `changes` are files beside this one that the gateway
 * preloads. Rejects where the engine collected garbage during each run.
 */
export async function countObjects(...changes: readonly string[]): Promise<ObjectCounts> {
  await using bench = await startBenchGateway({
    preload: [...changes, 'heap-counts.ts'].map((file) => join(import.meta.dir, file)),
    environment,
  })
  const model = await bench.model('ok')
  await sendRequests(bench, model, warmUpRequests)
  const found: ObjectCounts[] = []
  for (let count = 0; count < tries; count++) {
    const { left } = await countHeap(bench)
    await sendRequests(bench, model, requests)
    const after = await countHeap(bench)
    const perType = Object.entries(after.found).map(
      ([type, there]) => [type, (there - (left[type] ?? 0)) / requests] as const,
    )
    const counts = new Map(perType.filter(([, each]) => each > fewest))
    // The runtime makes one for each request: where some are missing, it collected them meanwhile.
    if (Math.abs((counts.get('Request') ?? 0) - 1) < 0.01) found.push(counts)
  }
  const middle = found.toSorted((a, b) => sumObjects(a) - sumObjects(b))[
    Math.floor(found.length / 2)
  ]
  if (!middle) throw new Error(`the heap was collected during each of ${tries} counts`)
  return middle
}
