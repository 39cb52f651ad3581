// Measures the CPU time of the gateway for a plain chat request and for a relayed chunk, thread by thread, with
// money and limits and without, in turns. Load, provider and scenarios are those of `npm run bench`.
// Run by: npm run bench cpu [rounds]
import { cpuByThread } from './bench-gateway'
import { figuresOf, median } from './compare/figures'
import { measure, sound, type Sample } from './compare/measure'
import { scenarioNamed } from './compare/scenarios'
import { startLoad } from './load/load'
import type { Subject } from './subjects/subject'
import { startTollgate, startWithoutMoney } from './subjects/tollgate'

const rounds = Number(process.argv[2] ?? 9)
/** Warm-up rounds: the engine recompiles hot code for some 200,000 requests. */
const warmUpRounds = 6
const seconds = 3
const minReportedMicros = 0.5

const plain = scenarioNamed('chat-64')
const streamed = scenarioNamed('stream-0-200')

/** A gateway, its samples, and the microseconds of each of its threads for a plain request of each round. */
interface Measured {
  subject: Subject
  samples: Sample[]
  threads: Map<string, number[]>
}

await using load = await startLoad()

/** Runs both kinds of requests once. Round 0 is not recorded. */
async function run({ subject, samples, threads }: Measured, round: number): Promise<void> {
  const [pid = 0] = subject.pids
  const before = cpuByThread(pid)
  const plainResult = sound(await measure(load, subject, { scenario: plain, seconds, round }))
  const after = cpuByThread(pid)
  const many = sound(await measure(load, subject, { scenario: streamed, seconds, round }))
  if (round === 0) return
  samples.push(plainResult, many)
  for (const [name, micros] of after) {
    const each = (micros - (before.get(name) ?? 0)) / plainResult.finished
    threads.set(name, [...(threads.get(name) ?? []), each])
  }
}

/** Prints a gateway's figures; returns the median CPU time of a plain request, in microseconds. */
function log({ subject, samples, threads }: Measured): number {
  const [request, chunk] = figuresOf(samples)
  const costs = samples.filter((it) => it.scenario === plain.name).map(({ cpu }) => cpu.own)
  const shares = [...threads]
    .map(([name, micros]) => ({ name, micros: median(micros) }))
    .filter(({ micros }) => micros >= minReportedMicros)
    .map(({ name, micros }) => `${name} ${micros.toFixed(1)}`)
  console.log(`${subject.title}:`)
  console.log(
    `  plain chat: ${median(costs).toFixed(1)} µs CPU a request, ${Math.min(...costs).toFixed(1)} at least; ` +
      `${request?.rate.toFixed(0)} a second, ${plain.connections} at once`,
  )
  console.log(`  by thread: ${shares.join(', ')}`)
  console.log(`  stream: ${chunk?.cpuPerChunk?.toFixed(1)} µs CPU a chunk beyond the request's own`)
  return median(costs)
}

await using stack = new AsyncDisposableStack()
const measured: Measured[] = []
for (const start of [startTollgate, startWithoutMoney]) {
  measured.push({ subject: stack.use(await start()), samples: [], threads: new Map() })
}
for (let round = 1 - warmUpRounds; round <= rounds; round++) {
  // The gateways alternate in beginning a round, so that periodic work of the machine affects both.
  for (const each of round % 2 === 0 ? measured : measured.toReversed()) {
    await run(each, Math.max(0, round))
  }
}
const [complete = 0, without = 0] = measured.map(log)
console.log(`money and limits: ${(complete - without).toFixed(1)} µs CPU a plain request`)
console.log(`medians of ${rounds} rounds; load, providers and gateways on this machine`)
