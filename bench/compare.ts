// Compares Tollgate with nginx, direct requests to the provider, and the installed peers, in turns.
// Run by: npm run bench [-- --rounds 5 --seconds 3 --only nginx,tollgate --scenarios chat-64 --earlier ../v0.4]
import { parseArgs } from 'node:util'
import { join } from 'node:path'
import type { Figures } from './compare/figures'
import { listOf, onlyNamed } from './compare/options'
import { plotOf } from './compare/plot'
import { reportOf } from './compare/report'
import type { Result } from './compare/result'
import { compare, failIfBroken, writeResult } from './compare/run'
import { scenarios as allScenarios } from './compare/scenarios'
import { allStarters, type Starters } from './subjects/starters'
import { startEarlier } from './subjects/tollgate'

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
const only = listOf(values.only)
const named = listOf(values.scenarios)
const isComplete = rounds >= 5 && only.length === 0 && named.length === 0

const starters: Starters = {
  ...allStarters,
  ...(earlier !== '' && { 'tollgate-earlier': () => startEarlier(earlier) }),
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

const measured = await compare({
  starters: onlyNamed(starters, only),
  scenarios: allScenarios.filter(({ name }) => named.length === 0 || named.includes(name)),
  rounds,
  seconds: Number(values.seconds),
  warmSeconds: Number(values.warm),
})
// A partial run is a look, not a record.
await writeResult(isComplete ? 'compare' : 'part', reportOf(measured.result), measured)
if (isComplete) await writePlots(measured.result)
failIfBroken(measured.result)
