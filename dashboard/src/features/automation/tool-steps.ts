import { isObject } from '../../api/client'

/** A tool call that ran on a self-hosted gateway, and its result. */
export interface ToolStep {
  id: string
  name: string
  /** The arguments from the model, normally JSON. */
  text: string
  /** The result sent to the model; undefined until there is one. */
  result?: string
  /** The start in milliseconds since 1970; undefined when unknown. */
  startedAtMs?: number
  /** The time of its result. */
  endedAtMs?: number
}

/** A streamed fragment of a tool call; further arguments follow. */
export interface CallPiece {
  index: number
  id?: string
  function?: { name?: string; arguments?: string }
}

export interface ToolResult {
  tool_call_id: string
  content: string
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : '')

/** The tool calls of a message stored at `atMs`. */
export const stepsIn = (
  calls: readonly Record<string, unknown>[] | null,
  atMs: number,
): ToolStep[] =>
  (calls ?? []).map(({ id, function: called }) => {
    const { name, arguments: text } = isObject(called) ? called : {}
    return { id: textOf(id), name: textOf(name), text: textOf(text), startedAtMs: atMs }
  })

/** Adds a streamed fragment to one of the steps; `index` counts from the first of the response. */
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
  // No call starts before the last one has arrived.
  return all.map((one) => ({ ...one, startedAtMs: atMs }))
}

/**
 * Adds a result to the first step that waits for it: ids may repeat in later responses. Steps run one
 * after the other, so the next one starts.
 */
export function answered(
  steps: readonly ToolStep[],
  { tool_call_id: id, content }: ToolResult,
  atMs: number,
): ToolStep[] {
  const at = steps.findIndex((step) => step.id === id && step.result === undefined)
  if (at === -1) return [...steps]
  return steps.map((step, index) => {
    if (index === at) return { ...step, result: content, endedAtMs: atMs }
    return step.result === undefined ? { ...step, startedAtMs: atMs } : step
  })
}

/** The duration of a step in milliseconds; undefined when unknown. */
export const tookMs = ({ startedAtMs, endedAtMs }: ToolStep): number | undefined =>
  startedAtMs === undefined || endedAtMs === undefined
    ? undefined
    : Math.max(0, endedAtMs - startedAtMs)

export type StepState = 'running' | 'waiting' | 'done' | 'failed' | 'not run' | 'no result'

/** Source: docs/concepts/automation.md. */
const notRun = 'Error: not run, as the message has reached its limit.'

/** The state of the step at `index`; `isComing` means that more may arrive. */
export function stateOf(steps: readonly ToolStep[], index: number, isComing: boolean): StepState {
  const result = steps[index]?.result
  if (result === undefined && !isComing) return 'no result'
  if (result === undefined) {
    return steps.findIndex((step) => step.result === undefined) === index ? 'running' : 'waiting'
  }
  if (result === notRun) return 'not run'
  return /^error/i.test(result) ? 'failed' : 'done'
}

const limitTexts =
  /^Stopped: (one message may call|the model may ask for tools|this message has cost) /

/** Whether a text is the service's notice of a step or cost limit that a message has reached. */
export const isLimit = (text: string): boolean => limitTexts.test(text)
