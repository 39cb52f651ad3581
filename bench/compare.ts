// Compares Tollgate with nginx, direct requests to the provider, and the installed peers, in turns.
// Run by: npm run bench [-- --rounds 5 --seconds 3 --only nginx,tollgate --scenarios chat-64 --earlier ../v0.4]
import { parseArgs } from 'node:util'
import { join } from 'node:path'
import { measure, requestsOf, type Sample } from './compare/measure'
import { figuresOf, type Figures } from './compare/figures'
import { plotOf } from './compare/plot'
import { reportOf } from './compare/report'
import { machine, versions, type Result } from './compare/result'
import { scenarios as allScenarios } from './compare/scenarios'
import { warm } from './compare/warm'
import { startLoad } from './load/load'
import { startDirect } from './subjects/direct'
import { startNginx } from './subjects/nginx'
import { refusedPeers, startLitellm, startPortkey } from './subjects/peers'
import { Missing, type Subject } from './subjects/subject'
import {
  startEarlier,
  startTollgate,
  startTwo,
  startWithoutMoney,
  startWorkers,
} from './subjects/tollgate'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '3' },
    warm: { type: 'string', default: '20' },
    only: { type: 'string', default: '' },
    scenarios: { type: 'string', default: '' },
    earlier: { type: 'string', default: '' },
  },
})
const { earlier } = values
const rounds = Number(values.rounds)
const seconds = Number(values.seconds)
const only = values.only.split(',').filter(Boolean)
const named = values.scenarios.split(',').filter(Boolean)
const scenarios = allScenarios.filter(({ name }) => named.length === 0 || named.includes(name))
const isComplete = rounds >= 5 && only.length === 0 && named.length === 0

const starters: Record<string, () => Promise<Subject>> = {
  direct: startDirect,
  nginx: startNginx,
  tollgate: startTollgate,
  'tollgate-free': startWithoutMoney,
  'tollgate-workers': startWorkers,
  'tollgate-2': startTwo,
  ...(earlier !== '' && { 'tollgate-earlier': () => startEarlier(earlier) }),
  portkey: startPortkey,
  litellm: startLitellm,
}

/** Starts all available subjects one after the other, so that none is slowed by the next. */
async function startAll(stack: AsyncDisposableStack) {
  const subjects: Subject[] = []
  const missing: Record<string, string> = { ...refusedPeers }
  for (const [name, start] of Object.entries(starters)) {
    if (only.length > 0 && !only.includes(name)) continue
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

/** Runs the warm-up and all rounds; returns the samples and the number of requests sent to each subject. */
async function runAll(subjects: readonly Subject[]) {
  await using load = await startLoad()
  const sent = new Map<string, number>()
  const samples: Sample[] = []
  const count = (subject: Subject, requests: number) =>
    sent.set(subject.name, (sent.get(subject.name) ?? 0) + requests)
  for (const subject of subjects) count(subject, await warm(load, subject, Number(values.warm)))
  for (let round = 1; round <= rounds; round++) {
    for (const scenario of scenarios) {
      // Another subject begins each round, so that periodic work of the machine affects all of them.
      const first = round % subjects.length
      for (const subject of [...subjects.slice(first), ...subjects.slice(0, first)]) {
        const sample = await measure(load, subject, { scenario, seconds, round })
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
  for (const { name, title, startMs, firstStartMs, verify } of subjects) {
    const verdicts = (await verify?.(sent.get(name) ?? 0)) ?? []
    const first = firstStartMs !== undefined && { firstStartMs }
    participants.push({ name, title, startMs, ...first, verdicts })
  }
  return participants
}

const plots = [
  { file: 'cpu', title: 'CPU of a plain chat request', unit: 'µs', scenario: 'chat-64' },
  { file: 'chunk', title: 'CPU of a relayed chunk', unit: 'µs', scenario: 'stream-0-200' },
  {
    file: 'rate',
    title: 'Plain chat, 64 connections',
    unit: 'requests a second',
    scenario: 'chat-64',
  },
] as const

function valueOf(file: (typeof plots)[number]['file'], figures: Figures): number | undefined {
  if (file === 'rate') return figures.rate
  if (figures.subject === 'direct') return undefined
  return file === 'cpu' ? figures.cpuPerRequest : figures.cpuPerChunk
}

async function writePlots({ participants, figures }: Result): Promise<void> {
  for (const { file, title, unit, scenario } of plots) {
    const points = participants.flatMap(({ name, title: label }) => {
      const own = figures.find((it) => it.subject === name && it.scenario === scenario)
      const value = own && valueOf(file, own)
      return value !== undefined && value > 0 ? [{ label, value }] : []
    })
    const path = join(import.meta.dir, `../docs/operate/performance-${file}.svg`)
    await Bun.write(path, plotOf({ title, unit, points }))
  }
}

await using stack = new AsyncDisposableStack()
const { subjects, missing } = await startAll(stack)
const { samples, sent } = await runAll(subjects)
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
// A partial run is a look, not a record.
const file = join(import.meta.dir, 'results', isComplete ? 'compare' : 'part')
const report = reportOf(result)
await Bun.write(`${file}.md`, `${report}\n`)
await Bun.write(`${file}.json`, `${JSON.stringify({ ...result, samples }, undefined, 1)}\n`)
if (isComplete) await writePlots(result)
console.log(`\n${report}\n\nwritten to ${file}.md and .json`)
const broken = result.participants.flatMap(({ verdicts }) => verdicts).filter((it) => !it.holds)
if (broken.length > 0) process.exitCode = 1
