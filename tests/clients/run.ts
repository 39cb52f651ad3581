// Runs the programs of `programs/`, each with an unmodified client library, against one Tollgate with
// a fake provider. A program gets base URL, keys and model names in its environment
// (`fixture.ts`), and prints a line of JSON for each case of `clients.ts`: `{case, ok, detail}`, where
// `ok` is null where its client lacks the feature, and `detail` then names it. The first is
// `abort`: the client must disconnect, not the program exit.
// Then the agents of `agents/`, one after the other, each in an isolated network with its own Tollgate.
import { mkdtemp, rm } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { agents, type Agent } from './agents/agents'
import { findNetworkProblem, runAgentAlone } from './agents/run-agents'
import { casesOf, clients, frameworks, mediaClients, rankingClients, type Client } from './clients'
import { judges, type Judge } from './judges'
import { outputTail, runCommand } from './command'
import { isPrepared, prepare, type Prepared } from './prepare'
import { createClientFixture, type Result, type Fixture } from './fixture'
import {
  agentRowOf,
  agentTable,
  clientTable,
  differences,
  formatJudgement,
  frameworkTable,
  judgeTable,
  mediaTable,
  rankingTable,
  rowOf,
  writeTable,
} from './table'
import { ToolchainMissing } from './toolchains'
import { hasRegistry } from '../harness/registries'

const programSeconds = 600

/** The outcome of a client: its results, or why it was not run. */
interface Outcome {
  client: Client
  results: Result[]
  notRun?: string
  tookMs: { install: number; run: number }
}

const isCI = ['1', 'true'].includes(process.env['CI'] ?? '')

/** Parses a result from a line of output; none where it is not one. */
function resultIn(line: string, client: Client): Result[] {
  if (!line.startsWith('{')) return []
  try {
    const { case: name, ok, detail = '' } = JSON.parse(line)
    return casesOf(client).includes(name) ? [{ case: name, ok, detail: String(detail) }] : []
  } catch {
    return []
  }
}

/** Variables of the user's environment that programs inherit. */
const inherited = ['PATH', 'HOME', 'LANG', 'TMPDIR']
const ownEnvironment = () => Object.fromEntries(inherited.map((name) => [name, process.env[name]]))

async function resultsOf(fixture: Fixture, client: Client, prepared: Prepared): Promise<Result[]> {
  const { environment, witness } = await fixture.startClientRun(client.name)
  const { command, cwd, env: own } = prepared
  const env = {
    ...ownEnvironment(),
    ...own,
    CLIENT: client.name,
    ...environment,
  }
  const ended = await runCommand(command, { cwd, env, limitSeconds: programSeconds })
  const endedAt = Date.now()
  const printed = ended.stdout.split('\n').flatMap((line) => resultIn(line, client))
  const missing = casesOf(client)
    .filter((name) => !printed.some((result) => result.case === name))
    .map((name) => ({ case: name, ok: false, detail: `no result: ${outputTail(ended)}` }))
  return Promise.all([...printed, ...missing].map((result) => witness(result, endedAt)))
}

const isJudge = (client: Tried): client is Judge => 'run' in client
const isAgent = (client: Tried): client is Agent => 'start' in client

/** Everything with a row in the tables. */
type Tried = Client | Judge | Agent

/** Runs a judge; a run without results is a failed result. */
async function judgement(
  fixture: Fixture,
  judge: Judge,
  { command, cwd }: Prepared,
): Promise<Result[]> {
  try {
    const packages = join(cwd, 'node_modules')
    return await judge.run({ fixture, node: command[0] ?? '', packages })
  } catch (thrown) {
    return [{ case: 'judgement', ok: false, detail: String(thrown) }]
  }
}

async function runClient(fixture: Fixture, client: Tried, runDir: string): Promise<Outcome> {
  const startedAt = performance.now()
  const nothing = { client, results: [], tookMs: { install: 0, run: 0 } }
  const missing = isAgent(client) ? findNetworkProblem() : isJudge(client) && client.missing
  if (missing) return { ...nothing, notRun: missing }
  const prepared = await prepare(client, runDir).catch((thrown: unknown) => thrown)
  const install = performance.now() - startedAt
  const outcome = { client, results: [], tookMs: { install, run: 0 } }
  if (prepared instanceof ToolchainMissing) return { ...outcome, notRun: prepared.message }
  if (!isPrepared(prepared)) {
    const detail = `it could not be installed: ${String(prepared)}`
    // In CI that is a failure, unless no registry is reachable at all.
    if (!isCI || !(await hasRegistry(client.language))) return { ...outcome, notRun: detail }
    return { ...outcome, results: [{ case: 'install', ok: false, detail }] }
  }
  const results = await resultsWith(fixture, client, prepared)
  return { client, results, tookMs: { install, run: performance.now() - startedAt - install } }
}

async function resultsWith(fixture: Fixture, client: Tried, prepared: Prepared): Promise<Result[]> {
  if (isAgent(client)) return runAgentAlone(client, prepared)
  return isJudge(client)
    ? judgement(fixture, client, prepared)
    : resultsOf(fixture, client, prepared)
}

const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`

function tell({ client, results, notRun, tookMs }: Outcome): void {
  if (notRun) return console.log(`${client.name}: not run: ${notRun}`)
  const passed = results.filter(({ ok }) => ok === true).length
  const cannot = results.filter(({ ok }) => ok === null)
  const failed = results.filter(({ ok }) => ok === false)
  const times = `installed in ${seconds(tookMs.install)}, ran ${seconds(tookMs.run)}`
  console.log(
    `${client.name}: ${passed} passed, ${failed.length} failed, ${cannot.length} not offered; ${times}`,
  )
  for (const { case: name, detail } of cannot) console.log(`  ${name}: ${detail}`)
  for (const { case: name, detail } of failed) console.log(`  ${name} FAILED: ${detail}`)
}

/** Runs as many at a time as there are processors, and one more that waits for the network. */
async function runAll(chosen: readonly Tried[], fixture: Fixture, runDir: string) {
  // Compiled programs take longest.
  const waiting = chosen
    .filter((client) => !isAgent(client))
    .toSorted((a, b) => weightOf(b) - weightOf(a))
  const outcomes: Outcome[] = []
  const worker = async () => {
    for (let client = waiting.shift(); client; client = waiting.shift()) {
      const outcome = await runClient(fixture, client, runDir)
      tell(outcome)
      outcomes.push(outcome)
    }
  }
  await Promise.all(Array.from({ length: availableParallelism() + 1 }, worker))
  // The duration of an agent is part of the test: nothing runs beside it.
  waiting.push(...chosen.filter(isAgent))
  await worker()
  return everyClient.flatMap((client) => outcomes.filter((outcome) => outcome.client === client))
}

const everyClient: readonly Tried[] = [
  ...clients,
  ...frameworks,
  ...mediaClients,
  ...rankingClients,
  ...judges,
  ...agents,
]

const weightOf = ({ language }: Client) => ['node', 'python', 'java', 'go'].indexOf(language)

const rowsOf = (outcomes: readonly Outcome[], listed: readonly Client[]) =>
  outcomes.flatMap(({ client, results }) =>
    listed.includes(client) ? [rowOf(client, results)] : [],
  )

/** Prints the tables, and returns the number of failed cases. */
function judge(outcomes: readonly Outcome[], write: boolean): number {
  const ran = outcomes.filter(({ notRun }) => notRun === undefined)
  const results = ran.flatMap((outcome) => outcome.results)
  const failed = results.filter(({ ok }) => ok === false).length
  const tables = [
    {
      table: clientTable,
      rows: rowsOf(ran, clients),
    },
    {
      table: frameworkTable,
      rows: rowsOf(ran, frameworks),
    },
    {
      table: mediaTable,
      rows: rowsOf(ran, mediaClients),
    },
    {
      table: rankingTable,
      rows: rowsOf(ran, rankingClients),
    },
    {
      table: judgeTable,
      rows: ran.flatMap(({ client, results: own }) =>
        isJudge(client) ? [formatJudgement(client, own)] : [],
      ),
    },
    {
      table: agentTable,
      rows: ran.flatMap(({ client, results: own }) =>
        isAgent(client) ? [agentRowOf(client, own)] : [],
      ),
    },
  ]
  if (write && failed === 0) for (const { table, rows } of tables) writeTable(table, rows)
  const isJudged = !write && failed === 0
  const differing = isJudged ? tables.flatMap(({ table, rows }) => differences(table, rows)) : []
  for (const difference of differing) console.log(difference)
  if (differing.length > 0) console.log('npm run test:clients -- --write writes it.')
  const passed = results.filter(({ ok }) => ok === true).length
  console.log(`${passed} passed, ${failed + differing.length} failed`)
  return failed + differing.length
}

async function main(args: readonly string[]): Promise<number> {
  const names = args.filter((arg) => !arg.startsWith('-'))
  const unknown = names.filter((name) => !everyClient.some((client) => client.name === name))
  if (unknown.length > 0) {
    console.error(
      `There is no client ${unknown.join(', ')}. There are ${everyClient.map(({ name }) => name).join(', ')}.`,
    )
    return 2
  }
  const chosen = everyClient.filter(({ name }) => names.length === 0 || names.includes(name))
  const runDir = await mkdtemp(join(tmpdir(), 'tollgate-clients-'))
  try {
    // Before any installation: on a small machine nothing starts beside a compiler.
    await using fixture = await createClientFixture()
    const outcomes = await runAll(chosen, fixture, runDir)
    return judge(outcomes, args.includes('--write')) > 0 ? 1 : 0
  } finally {
    await rm(runDir, { recursive: true, force: true })
  }
}

process.exitCode = await main(process.argv.slice(2))
