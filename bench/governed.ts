// Compares bare gateways with bare ones, and governed ones with governed ones: CPU of a request with all services.
// Run by: npm run bench governed [-- --rounds 3 --seconds 2 --only nginx,tollgate --scenarios chat-64]
import { parseArgs } from 'node:util'
import { governanceReportOf } from './compare/governance'
import { listOf, onlyNamed } from './compare/options'
import { compare, failIfBroken, writeResult } from './compare/run'
import { scenarioNamed } from './compare/scenarios'
import { governanceStarters } from './subjects/starters'

const allScenarios = ['chat-64', 'stream-10-200']

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '2' },
    warm: { type: 'string', default: '3' },
    only: { type: 'string', default: '' },
    scenarios: { type: 'string', default: allScenarios.join(',') },
  },
})
const rounds = Number(values.rounds)
const only = listOf(values.only)
const named = listOf(values.scenarios)
const isComplete =
  rounds >= 3 && only.length === 0 && allScenarios.every((name) => named.includes(name))

const measured = await compare({
  starters: onlyNamed(governanceStarters, only),
  scenarios: named.map(scenarioNamed),
  rounds,
  seconds: Number(values.seconds),
  warmSeconds: Number(values.warm),
})
// A partial run is a look, not a record.
const report = governanceReportOf(measured.result)
await writeResult(isComplete ? 'governed' : 'part', report, measured)
failIfBroken(measured.result)
