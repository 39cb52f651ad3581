import { join } from 'node:path'
import { startLoad, type Load } from '../load/load'
import { refusedPeers } from '../subjects/peers'
import type { Starters } from '../subjects/starters'
import { Missing, type Subject } from '../subjects/subject'
import { figuresOf } from './figures'
import { measure, requestsOf, type Sample } from './measure'
import { machine, versions, type Result } from './result'
import { planOf, type Scenario } from './scenarios'
import { warm } from './warm'

/** Subjects, scenarios and duration of a comparison. */
export interface Run {
  starters: Starters
  scenarios: readonly Scenario[]
  rounds: number
  seconds: number
  /** The limit of each kind of warm-up request, in seconds. */
  warmSeconds: number
}

/** Starts all available subjects one after the other, so that none is slowed by the next. */
async function startAll(starters: Starters, stack: AsyncDisposableStack) {
  const subjects: Subject[] = []
  const missing: Record<string, string> = { ...refusedPeers }
  for (const [name, start] of Object.entries(starters)) {
    try {
      subjects.push(stack.use(await start()))
      console.log(`${name}: there`)
    } catch (thrown) {
      if (!(thrown instanceof Missing)) throw thrown
      missing[name] = thrown.message
      console.log(`${name}: not there. ${thrown.message}`)
    }
  }
  return { subjects, missing }
}

function log({
  subject,
  scenario,
  round,
  rate,
  cpu,
  events,
  seconds,
  busy,
  ...rest
}: Sample): void {
  const percentages = [busy.gateway, busy.load, busy.provider].map((part) =>
    (100 * part).toFixed(0),
  )
  const failed = JSON.stringify(rest.failed)
  console.log(
    `${round} ${scenario} ${subject}: ${cpu.own.toFixed(1)} µs (${cpu.all.toFixed(1)}), ` +
      `${rate.toFixed(0)}/s, ${(events / seconds).toFixed(0)} events/s, ` +
      `p50 ${rest.complete.p50.toFixed(2)} p99 ${rest.complete.p99.toFixed(2)} ms, ` +
      `${rest.residentMb.toFixed(0)} MB, busy ${percentages.join('/')}` +
      (failed === '{}' && rest.cut === 0 ? '' : `, failed ${failed}, cut ${rest.cut}`),
  )
}

/** Sends one request of each optional scenario to each peer; returns `subject scenario` of those without an answer. */
async function findUnserved(load: Load, subjects: readonly Subject[], all: readonly Scenario[]) {
  const unserved = new Set<string>()
  for (const subject of subjects) {
    // What must be served is measured, and fails.
    if (subject.verify) continue
    for (const scenario of all.filter(({ isOptional }) => isOptional)) {
      const plan = { ...planOf(subject, scenario, 0), connections: 1, seconds: 0.3 }
      const { finished, failure } = await load.run(plan)
      if (finished > 0) continue
      unserved.add(`${subject.name} ${scenario.name}`)
      console.log(`${subject.name}: does not serve ${scenario.name}. ${failure}`)
    }
  }
  return unserved
}

/** Runs the warm-up and all rounds; returns the samples and the number of requests sent to each subject. */
async function runAll(subjects: readonly Subject[], { scenarios, rounds, ...run }: Run) {
  await using load = await startLoad()
  const sent = new Map<string, number>()
  const samples: Sample[] = []
  const count = (subject: Subject, requests: number) =>
    sent.set(subject.name, (sent.get(subject.name) ?? 0) + requests)
  for (const subject of subjects) count(subject, await warm(load, subject, run.warmSeconds))
  const unserved = await findUnserved(load, subjects, scenarios)
  for (let round = 1; round <= rounds; round++) {
    for (const scenario of scenarios) {
      // Another subject begins each round, so that periodic work of the machine affects all of them.
      const first = round % subjects.length
      for (const subject of [...subjects.slice(first), ...subjects.slice(0, first)]) {
        if (unserved.has(`${subject.name} ${scenario.name}`)) continue
        const sample = await measure(load, subject, { scenario, seconds: run.seconds, round })
        count(subject, requestsOf(sample) + (scenario.openStreams ?? 0))
        samples.push(sample)
        log(sample)
      }
    }
  }
  return { samples, sent }
}

async function participantsOf(subjects: readonly Subject[], sent: Map<string, number>) {
  const participants: Result['participants'] = []
  for (const { name, title, governance, startMs, firstStartMs, verify } of subjects) {
    const verdicts = (await verify?.(sent.get(name) ?? 0)) ?? []
    const rest = { ...(governance && { governance }), ...(firstStartMs && { firstStartMs }) }
    participants.push({ name, title, startMs, ...rest, verdicts })
  }
  return participants
}

/** Measures all subjects in turns. */
export async function compare(run: Run): Promise<{ result: Result; samples: Sample[] }> {
  await using stack = new AsyncDisposableStack()
  const { subjects, missing } = await startAll(run.starters, stack)
  const { samples, sent } = await runAll(subjects, run)
  const { rounds, seconds, scenarios } = run
  const result: Result = {
    at: new Date().toISOString(),
    machine: machine(),
    versions: versions(),
    rounds,
    seconds,
    participants: await participantsOf(subjects, sent),
    missing,
    scenarios: scenarios.map(({ name, title }) => ({ name, title })),
    figures: figuresOf(samples),
  }
  return { result, samples }
}

/** Writes a report and its figures into `bench/results`, and shows it. */
export async function writeResult(
  name: string,
  report: string,
  { result, samples }: { result: Result; samples: readonly Sample[] },
): Promise<void> {
  const file = join(import.meta.dir, '../results', name)
  await Bun.write(`${file}.md`, `${report}\n`)
  await Bun.write(`${file}.json`, `${JSON.stringify({ ...result, samples }, undefined, 1)}\n`)
  console.log(`\n${report}\n\nwritten to ${file}.md and .json`)
}

/** Fails the process where a promise about money was broken. */
export function failIfBroken({ participants }: Result): void {
  if (participants.some(({ verdicts }) => verdicts.some(({ holds }) => !holds))) {
    process.exitCode = 1
  }
}
