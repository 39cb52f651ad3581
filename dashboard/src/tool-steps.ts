/** A call of a tool that ran on a self-hosted gateway, and what came of it. */
export interface ToolStep {
  id: string
  name: string
  /** What the model gave it: JSON, as a rule. */
  text: string
  /** What the model got; undefined as long as there is none. */
  result?: string
  /** When it was its turn, in milliseconds since 1970; undefined where nobody knows. */
  startedAtMs?: number
  /** When its result was there. */
  endedAtMs?: number
}

/** Some of a call, as a stream tells it: the rest of its arguments follows. */
export interface CallPiece {
  index: number
  id?: string
  function?: { name?: string; arguments?: string }
}

export interface ToldResult {
  tool_call_id: string
  content: string
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null

const textOf = (value: unknown) => (typeof value === 'string' ? value : '')

/** The calls of a message, as it is kept since `atMs`. */
export const stepsIn = (
  calls: readonly Record<string, unknown>[] | null,
  atMs: number,
): ToolStep[] =>
  (calls ?? []).map(({ id, function: called }) => {
    const { name, arguments: text } = isObject(called) ? called : {}
    return { id: textOf(id), name: textOf(name), text: textOf(text), startedAtMs: atMs }
  })

/** Steps with what a stream adds to one of them; `index` counts them from the first of the answer. */
export function grown(
  steps: readonly ToolStep[],
  { index, ...piece }: CallPiece,
  atMs: number,
): ToolStep[] {
  const known = steps[index] ?? { id: '', name: '', text: '' }
  const step = {
    ...known,
    id: piece.id ?? known.id,
    name: piece.function?.name ?? known.name,
    text: known.text + (piece.function?.arguments ?? ''),
  }
  const all = [...steps.slice(0, index), step, ...steps.slice(index + 1)]
  // None runs before the last of them was asked for.
  return all.map((one) => ({ ...one, startedAtMs: atMs }))
}

/**
 * Steps with a result, at the first that waits for it: ids may come again in later answers. They run one
 * after the other: then it is the turn of those that are left.
 */
export function answered(
  steps: readonly ToolStep[],
  { tool_call_id: id, content }: ToldResult,
  atMs: number,
): ToolStep[] {
  const at = steps.findIndex((step) => step.id === id && step.result === undefined)
  if (at === -1) return [...steps]
  return steps.map((step, index) => {
    if (index === at) return { ...step, result: content, endedAtMs: atMs }
    return step.result === undefined ? { ...step, startedAtMs: atMs } : step
  })
}

/** How long a step took, in milliseconds; undefined where that is not known. */
export const tookMs = ({ startedAtMs, endedAtMs }: ToolStep): number | undefined =>
  startedAtMs === undefined || endedAtMs === undefined
    ? undefined
    : Math.max(0, endedAtMs - startedAtMs)

export type StepState = 'runs' | 'waits' | 'done' | 'failed' | 'not run' | 'no result'

/** Source: docs/automation.md. */
const notRun = 'Error: not run, as the message has reached its limit.'

/** What has become of the step at `index`; `isComing`: more may come. */
export function stateOf(steps: readonly ToolStep[], index: number, isComing: boolean): StepState {
  const result = steps[index]?.result
  if (result === undefined && !isComing) return 'no result'
  if (result === undefined) {
    return steps.findIndex((step) => step.result === undefined) === index ? 'runs' : 'waits'
  }
  if (result === notRun) return 'not run'
  return /^error/i.test(result) ? 'failed' : 'done'
}

const limitWords =
  /^Stopped: (one message may call|the model may ask for tools|this message has cost) /

/** Whether that are the service's words for a limit of steps or cost that a message has reached. */
export const isLimit = (text: string): boolean => limitWords.test(text)
