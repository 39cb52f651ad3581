import type { Agent, UpstreamFormat } from './agents'
import { greeting, listOf, maxPromptLength, secretBeginning } from './scenes'
import { modelFor, play, type AgentFixture, type EndedRun } from './fixture'
import type { Prepared } from '../prepare'
import type { Result } from '../fixture'

/** The columns of the table, and their cases: one for each upstream format, or one without. */
export const agentColumns = [
  'plain',
  'tool',
  'mcp',
  'wrong key',
  'unknown model',
  'prompt too long',
] as const
type Column = (typeof agentColumns)[number]

const withoutUpstream: readonly Column[] = ['wrong key', 'unknown model']

/** Names the case of a column with an upstream format: `tool, messages`. */
const nameOf = (column: Column, format: UpstreamFormat) =>
  withoutUpstream.includes(column) ? column : `${column}, ${format}`

/** A case of a column with a model for which an agent sends its tools in the input. */
interface ModelCase {
  name: string
  column: Column
  model: string
}

const modelColumns: readonly Column[] = ['plain', 'mcp']

const modelCasesOf = ({ modelsWithToolsInInput = [] }: Agent): ModelCase[] =>
  modelsWithToolsInInput.flatMap((model) =>
    modelColumns.map((column) => ({ name: `${column}, ${model}`, column, model })),
  )

/** Returns the cases of an agent, in the order in which they start. */
export const casesOf = (agent: Agent): string[] => [
  ...new Set(
    agent.formats.flatMap((format) => agentColumns.map((column) => nameOf(column, format))),
  ),
  ...modelCasesOf(agent).map(({ name }) => name),
]

/** Returns the names of a column's cases. */
export const casesOfColumn = (agent: Agent, column: Column): string[] => [
  ...new Set(agent.formats.map((format) => nameOf(column, format))),
  ...modelCasesOf(agent).flatMap((one) => (one.column === column ? one.name : [])),
]

const turnSeconds = 90
/** A wrong key must be reported at once, as a retry cannot help: within this time beyond a plain turn. */
const wrongKeySeconds = 10
/** A prompt that is too long may be shortened and resent, but not retried unchanged. */
const maxLongRequests = 3

const saidBy = ({ stdout, stderr }: EndedRun) => `${stdout}\n${stderr}`

const endOf = (text: string) => text.trim().split('\n').slice(-3).join(' ').slice(-300)

/** Throws a short description of what is wrong with a run. */
type Judge = (run: EndedRun, fixture: AgentFixture) => void

function insist(isTrue: boolean, words: string, ended: EndedRun): void {
  if (isTrue) return
  const { code, seconds, stdout, stderr } = ended
  const end = [endOf(stdout), endOf(stderr)].filter(Boolean).join(' | ')
  throw new Error(`${words} (exit ${code}, ${seconds.toFixed(1)} s): ${end}`)
}

const says =
  (words: string): Judge =>
  (run) =>
    insist(run.code === 0 && run.stdout.includes(words), `it did not say "${words}"`, run)

const writesFile: Judge = (run) =>
  insist(run.written.trim() === 'written by the model', 'it wrote no file', run)

const wrongKey: Judge = (run) => {
  insist(run.code !== null, 'it did not end in time', run)
  // Agents wrap lines anywhere.
  insist(/key\s+is\s+not\s+valid/i.test(saidBy(run)), 'no word about the key', run)
}

const unknownModel: Judge = (run) => {
  insist(run.code !== null, `it did not end within ${turnSeconds} s`, run)
  const words = /(not|unknown|no) [^\n]{0,80}model|model[^\n]{0,160}(not|unknown|exist|no )/i
  insist(words.test(saidBy(run)), 'no word about the model', run)
}

const tooLong: Judge = (run, { upstream }) => {
  const { length } = upstream.taken().filter((request) => request.length > maxPromptLength)
  insist(run.code !== null, `it did not end within ${turnSeconds} s`, run)
  insist(/context|too long|too large|maximum/i.test(saidBy(run)), 'no word about the length', run)
  insist(length <= maxLongRequests, `the upstream was asked ${length} times`, run)
}

interface Case {
  agent: Agent
  prepared: Prepared
  format: UpstreamFormat
  /** The duration of a plain turn. */
  plainSeconds: number
}

/** Returns the parameters of a run that are specific to a column. */
type PlayOptions = Partial<Parameters<typeof play>[1]>

const optionsFor = (column: Column, key: string, plainSeconds: number): PlayOptions => {
  if (column === 'tool' || column === 'mcp') return { scene: column }
  if (column === 'prompt too long') return { scene: 'long' }
  if (column === 'unknown model') return { model: 'compatible/nobody-has-it' }
  if (column === 'plain') return {}
  return { key: `${key.slice(0, -6)}zzzzzz`, limitSeconds: wrongKeySeconds + plainSeconds }
}

/** Runs the case of a column, and returns its duration. Throws on failure. */
async function run(fixture: AgentFixture, column: Column, testCase: Case): Promise<number> {
  const { agent, prepared, format, plainSeconds } = testCase
  const { key } = fixture
  const model = agent.models?.[format] ?? modelFor[format]
  // Only the file, or the server, contains it.
  const secret = `${secretBeginning}${crypto.randomUUID()}`
  fixture.upstream.taken()
  const turn = { agent, prepared, model, key, secret, limitSeconds: turnSeconds }
  const own = optionsFor(column, key, plainSeconds)
  const ended = await play(fixture, { ...turn, scene: 'plain', ...own })
  judgeFor(column, agent, secret)(ended, fixture)
  return ended.seconds
}

function judgeFor(column: Column, agent: Agent, secret: string): Judge {
  if (column === 'plain') return says(greeting)
  if (column === 'wrong key') return wrongKey
  if (column === 'unknown model') return unknownModel
  if (column === 'prompt too long') return tooLong
  return column === 'tool' && agent.hasNoTools ? writesFile : says(secret)
}

/** Checks that the model was requested with tools in its input: otherwise the case would prove nothing. */
const hasToolsInInput =
  (model: string): Judge =>
  (run, { upstream }) => {
    const requests = upstream.requestsFor(model.slice(model.indexOf('/') + 1))
    const isWhole = requests.some(({ body }) =>
      listOf(body['input']).some(({ type }) => type === 'additional_tools'),
    )
    insist(isWhole, `${model} got no tools in its input`, run)
  }

type Runnable = Pick<Case, 'agent' | 'prepared'>

async function runModelCase(
  fixture: AgentFixture,
  { column, model }: ModelCase,
  { agent, prepared }: Runnable,
): Promise<void> {
  const secret = `${secretBeginning}${crypto.randomUUID()}`
  const scene = column === 'mcp' ? 'mcp' : 'plain'
  const turn = { agent, prepared, model, scene, secret, key: fixture.key } as const
  const ended = await play(fixture, { ...turn, limitSeconds: turnSeconds })
  judgeFor(column, agent, secret)(ended, fixture)
  hasToolsInInput(model)(ended, fixture)
}

/** The number of concurrent, independent runs of one agent. */
const maxRuns = 4

async function runModelCases(
  fixture: AgentFixture,
  runnable: Runnable,
  report: (result: Result) => void,
): Promise<void> {
  const waiting = modelCasesOf(runnable.agent)
  const work = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const result = { case: next.name, ok: true, detail: '' }
      await runModelCase(fixture, next, runnable).then(
        () => report(result),
        (thrown: unknown) => report({ ...result, ok: false, detail: messageOf(thrown) }),
      )
    }
  }
  await Promise.all(Array.from({ length: maxRuns }, work))
}

const messageOf = (thrown: unknown) => (thrown instanceof Error ? thrown.message : String(thrown))

/** Runs all cases of an agent, and reports each as it ends: those of single models concurrently, at the end. */
export async function runAgent(
  fixture: AgentFixture,
  runnable: Runnable,
  report: (result: Result) => void,
): Promise<void> {
  await runFormats(fixture, runnable, report)
  await runModelCases(fixture, runnable, report)
}

async function runFormats(
  fixture: AgentFixture,
  { agent, prepared }: Runnable,
  report: (result: Result) => void,
): Promise<void> {
  const done = new Set<string>()
  let plainSeconds = 0
  for (const format of agent.formats) {
    for (const column of agentColumns) {
      const name = nameOf(column, format)
      if (done.has(name)) continue
      done.add(name)
      if (column === 'mcp' && agent.hasNoTools) {
        report({ case: name, ok: null, detail: 'not offered' })
        continue
      }
      try {
        const seconds = await run(fixture, column, { agent, prepared, format, plainSeconds })
        if (column === 'plain') plainSeconds = Math.max(plainSeconds, seconds)
        report({ case: name, ok: true, detail: '' })
      } catch (thrown) {
        report({ case: name, ok: false, detail: messageOf(thrown) })
      }
    }
  }
}
