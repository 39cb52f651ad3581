// Measures the resident memory of fresh processes: idle, and with open streams that have a chunk a second; and what a
// plain request costs in CPU beside the most of them.
// Run by: npm run bench memory [streams ...]
import { median } from './compare/figures'
import { openStreams, untilIdle } from './compare/measure'
import { planOf, scenarioNamed } from './compare/scenarios'
import { startLoad, type Load } from './load/load'
import { cpuOf, ownPids, residentMbOf } from './process-tree'
import type { Subject } from './subjects/subject'
import { startTollgate } from './subjects/tollgate'

const counts = process.argv.length > 2 ? process.argv.slice(2).map(Number) : [1000, 5000]
const idleSeconds = 15
const openSeconds = 30
const rounds = 5

const residentOf = ({ pids }: Subject) => residentMbOf(ownPids(pids))

/** Returns the maximum resident memory of a subject within some seconds, in MB. */
async function maxResidentMb(subject: Subject, seconds: number): Promise<number> {
  let max = 0
  for (const endsAt = performance.now() + seconds * 1000; performance.now() < endsAt;) {
    max = Math.max(max, residentOf(subject))
    await Bun.sleep(250)
  }
  return max
}

/** Opens streams of a fresh process, and prints its memory before and with them. */
async function measureMemory(count: number): Promise<void> {
  await using subject = await startTollgate()
  await Bun.sleep(idleSeconds * 1000)
  const idle = residentOf(subject)
  await using _streams = await openStreams(subject, count, 90)
  const max = await maxResidentMb(subject, openSeconds)
  console.log(
    `${count} open streams: ${max.toFixed(0)} MB at most, ${idle.toFixed(0)} MB idle before`,
  )
}

const loadSeconds = 3
/** Until the first chunks of all streams have arrived, and their beginnings are in the journal. */
const settlingSeconds = 5
/** Until what the load caused is booked. */
const bookedSeconds = 1

/** Returns the CPU time of a plain request, in microseconds, beyond what the process uses without any. */
async function costOf(load: Load, subject: Subject): Promise<number> {
  const cpuWithin = async (work: () => Promise<unknown>) => {
    const [startedAt, before] = [performance.now(), cpuOf(subject.pids).own]
    await work()
    await Bun.sleep(bookedSeconds * 1000)
    return { micros: cpuOf(subject.pids).own - before, ms: performance.now() - startedAt }
  }
  const without = await cpuWithin(() => Bun.sleep(loadSeconds * 1000))
  let finished = 0
  const busy = await cpuWithin(async () => {
    ;({ finished } = await load.run(planOf(subject, scenarioNamed('chat-64'), loadSeconds)))
  })
  return (busy.micros - without.micros * (busy.ms / without.ms)) / finished
}

/** Measures plain requests with and without streams beside them, in turns on one process. */
async function measureBeside(count: number): Promise<void> {
  await using subject = await startTollgate()
  await using load = await startLoad()
  const costs: { alone: number; beside: number }[] = []
  for (let round = 0; round <= rounds; round++) {
    // Of the streams before.
    await untilIdle(subject.pids)
    const alone = await costOf(load, subject)
    await using _streams = await openStreams(subject, count, 90)
    await Bun.sleep(settlingSeconds * 1000)
    costs.push({ alone, beside: await costOf(load, subject) })
  }
  // The first round warms the process.
  const measured = costs.slice(1)
  const alone = median(measured.map((one) => one.alone))
  const beside = median(measured.map((one) => one.beside))
  console.log(
    `a plain request at 64 connections: ${alone.toFixed(1)} µs of CPU alone, ${beside.toFixed(1)} beside ` +
      `${count} open streams: ${(beside / alone).toFixed(2)} times`,
  )
}

for (const count of counts) await measureMemory(count)
await measureBeside(Math.max(...counts))
