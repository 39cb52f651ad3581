import type { Agent, UpstreamFormat } from './agents'
import { greeting, listOf, maxPromptLength, secretBeginning } from './scenes'
import { modelFor, play, type AgentStage, type EndedRun } from './stage'
import type { Prepared } from '../prepare'
import type { Result } from '../stage'

/** The columns of the table, and their cases: with an upstream of each format, or with none. */
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

/** `tool, messages`: the case of a column with an upstream of a format. */
const nameOf = (column: Column, format: UpstreamFormat) =>
  withoutUpstream.includes(column) ? column : `${column}, ${format}`

/** A case of a column with one of the models whose tools an agent sends in its input. */
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

/** The cases of an agent, in the order in which they are begun. */
export const casesOf = (agent: Agent): string[] => [
  ...new Set(
    agent.formats.flatMap((format) => agentColumns.map((column) => nameOf(column, format))),
  ),
  ...modelCasesOf(agent).map(({ name }) => name),
]

/** The names of a column's cases. */
export const casesOfColumn = (agent: Agent, column: Column): string[] => [
  ...new Set(agent.formats.map((format) => nameOf(column, format))),
  ...modelCasesOf(agent).flatMap((one) => (one.column === column ? one.name : [])),
]

const turnSeconds = 90
/** A wrong key is told at once, as trying again cannot help: so long after what an agent needs anyway. */
const wrongKeySeconds = 10
/** A prompt that is too long may be made shorter and sent again, not just sent again. */
const maxLongRequests = 3

const saidBy = ({ stdout, stderr }: EndedRun) => `${stdout}\n${stderr}`

const endOf = (text: string) => text.trim().split('\n').slice(-3).join(' ').slice(-300)

/** Throws what is wrong with a run, in a few words. */
type Judge = (run: EndedRun, stage: AgentStage) => void

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
  // Agents break lines where they like.
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
  /** How long a plain turn took. */
  plainSeconds: number
}

/** How a run of a column is asked for, beside what all have. */
type Asked = Partial<Parameters<typeof play>[1]>

const askedFor = (column: Column, key: string, plainSeconds: number): Asked => {
  if (column === 'tool' || column === 'mcp') return { scene: column }
  if (column === 'prompt too long') return { scene: 'long' }
  if (column === 'unknown model') return { model: 'compatible/nobody-has-it' }
  if (column === 'plain') return {}
  return { key: `${key.slice(0, -6)}zzzzzz`, limitSeconds: wrongKeySeconds + plainSeconds }
}

/** Runs the case of a column, and returns how long it took. Throws what is wrong. */
async function run(stage: AgentStage, column: Column, asked: Case): Promise<number> {
  const { agent, prepared, format, plainSeconds } = asked
  const { key } = stage
  const model = agent.models?.[format] ?? modelFor[format]
  // Nothing but the file, or the server, has it.
  const secret = `${secretBeginning}${crypto.randomUUID()}`
  stage.upstream.taken()
  const turn = { agent, prepared, model, key, secret, limitSeconds: turnSeconds }
  const own = askedFor(column, key, plainSeconds)
  const ended = await play(stage, { ...turn, scene: 'plain', ...own })
  judgeFor(column, agent, secret)(ended, stage)
  return ended.seconds
}

function judgeFor(column: Column, agent: Agent, secret: string): Judge {
  if (column === 'plain') return says(greeting)
  if (column === 'wrong key') return wrongKey
  if (column === 'unknown model') return unknownModel
  if (column === 'prompt too long') return tooLong
  return column === 'tool' && agent.hasNoTools ? writesFile : says(secret)
}

/** The model was asked, and the tools came in its input: else the case would show nothing. */
const hasToolsInInput =
  (model: string): Judge =>
  (run, { upstream }) => {
    const asked = upstream.seenFor(model.slice(model.indexOf('/') + 1))
    const isWhole = asked.some(({ body }) =>
      listOf(body['input']).some(({ type }) => type === 'additional_tools'),
    )
    insist(isWhole, `${model} got no tools in its input`, run)
  }

type Runnable = Pick<Case, 'agent' | 'prepared'>

async function runModelCase(
  stage: AgentStage,
  { column, model }: ModelCase,
  { agent, prepared }: Runnable,
): Promise<void> {
  const secret = `${secretBeginning}${crypto.randomUUID()}`
  const scene = column === 'mcp' ? 'mcp' : 'plain'
  const turn = { agent, prepared, model, scene, secret, key: stage.key } as const
  const ended = await play(stage, { ...turn, limitSeconds: turnSeconds })
  judgeFor(column, agent, secret)(ended, stage)
  hasToolsInInput(model)(ended, stage)
}

/** Runs of one agent at a time that have nothing to do with one another. */
const maxRuns = 4

async function runModelCases(
  stage: AgentStage,
  runnable: Runnable,
  tell: (result: Result) => void,
): Promise<void> {
  const waiting = modelCasesOf(runnable.agent)
  const work = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const result = { case: next.name, ok: true, detail: '' }
      await runModelCase(stage, next, runnable).then(
        () => tell(result),
        (thrown: unknown) => tell({ ...result, ok: false, detail: wordsOf(thrown) }),
      )
    }
  }
  await Promise.all(Array.from({ length: maxRuns }, work))
}

const wordsOf = (thrown: unknown) => (thrown instanceof Error ? thrown.message : String(thrown))

/** Runs all cases of an agent, and tells of each as it ends: those of one model beside each other, at the end. */
export async function runAgent(
  stage: AgentStage,
  runnable: Runnable,
  tell: (result: Result) => void,
): Promise<void> {
  await runFormats(stage, runnable, tell)
  await runModelCases(stage, runnable, tell)
}

async function runFormats(
  stage: AgentStage,
  { agent, prepared }: Runnable,
  tell: (result: Result) => void,
): Promise<void> {
  const done = new Set<string>()
  let plainSeconds = 0
  for (const format of agent.formats) {
    for (const column of agentColumns) {
      const name = nameOf(column, format)
      if (done.has(name)) continue
      done.add(name)
      if (column === 'mcp' && agent.hasNoTools) {
        tell({ case: name, ok: null, detail: 'not offered' })
        continue
      }
      try {
        const seconds = await run(stage, column, { agent, prepared, format, plainSeconds })
        if (column === 'plain') plainSeconds = Math.max(plainSeconds, seconds)
        tell({ case: name, ok: true, detail: '' })
      } catch (thrown) {
        tell({ case: name, ok: false, detail: wordsOf(thrown) })
      }
    }
  }
}
