// Measures CPU and latency of the usage journal: a begin, then a settle, at several levels of concurrency.
// Run by: npm run bench journal [directory], to measure the disk of that directory.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Journal } from '../server/src/journal/journal'

const rounds = 5
const pairsARound = 20_000
const sequentialPairs = 4000

const openBody = JSON.stringify({ model: 'fake/ok', account: 'acc', padding: 'x'.repeat(300) })
const settledBody = JSON.stringify({ model: 'fake/ok', usage: {}, padding: 'x'.repeat(700) })

const attemptId = (index: number) => `att_${index.toString().padStart(26, '0')}`

const median = (values: readonly number[], part = 0.5) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * part)] ?? Number.NaN

interface Figures {
  userMicros: number
  systemMicros: number
  pairsASecond: number
}

let next = 0
const settleMs: number[] = []

async function pair(journal: Journal): Promise<void> {
  const id = attemptId(next++)
  await journal.begin(id, openBody)
  // The provider's answer arrives in another turn of the event loop.
  await new Promise((resolve) => setImmediate(resolve))
  const startedAt = performance.now()
  await journal.settle(id, settledBody)
  settleMs.push(performance.now() - startedAt)
}

/** Books like the flusher, 200 rows at a time, until no more rows come. */
async function flush(journal: Journal, isLast: () => boolean): Promise<void> {
  while (!isLast() || journal.size > 0) {
    if (journal.size >= 200 || isLast()) {
      await journal.drop(journal.settled(200).map(({ seq }) => seq))
    } else {
      await Bun.sleep(5)
    }
  }
}

async function measure(journal: Journal, concurrency: number): Promise<Figures> {
  const pairs = concurrency === 1 ? sequentialPairs : pairsARound
  const before = process.cpuUsage()
  const startedAt = performance.now()
  let remaining = pairs
  const lanes = Array.from({ length: concurrency }, async () => {
    while (remaining-- > 0) await pair(journal)
  })
  let isLast = false
  const flushed = flush(journal, () => isLast)
  await Promise.all(lanes)
  const seconds = (performance.now() - startedAt) / 1000
  isLast = true
  await flushed
  const { user, system } = process.cpuUsage(before)
  return { userMicros: user / pairs, systemMicros: system / pairs, pairsASecond: pairs / seconds }
}

async function report(directory: string, sync: 'always' | 'batch'): Promise<void> {
  await using journal = await Journal.open({ directory, sync })
  for (const concurrency of [1, 32, 256]) {
    await measure(journal, concurrency)
    settleMs.length = 0
    const all: Figures[] = []
    for (let round = 0; round < rounds; round++) all.push(await measure(journal, concurrency))
    const user = median(all.map(({ userMicros }) => userMicros))
    const system = median(all.map(({ systemMicros }) => systemMicros))
    const rate = median(all.map(({ pairsASecond }) => pairsASecond))
    console.log(
      `${sync}, ${concurrency} at once: ${(user + system).toFixed(1)} µs CPU a pair ` +
        `(${user.toFixed(1)} ours, ${system.toFixed(1)} the kernel's), ${rate.toFixed(0)} pairs a second, ` +
        `settle p50 ${median(settleMs).toFixed(2)} ms, p99 ${median(settleMs, 0.99).toFixed(2)} ms`,
    )
  }
}

const directory = mkdtempSync(join(process.argv[2] ?? tmpdir(), 'tollgate-bench-'))
try {
  for (const sync of ['always', 'batch'] as const)
    await report(mkdtempSync(join(directory, sync)), sync)
  console.log(`medians of ${rounds} rounds, rows booked and dropped 200 at a time, in ${directory}`)
} finally {
  rmSync(directory, { recursive: true })
}
