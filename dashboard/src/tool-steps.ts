/** A call of a tool that ran on a self-hosted gateway, and what came of it. */
export interface ToolStep {
  id: string
  name: string
  /** What the model gave it: JSON, as a rule. */
  text: string
  /** What the model got; undefined as long as there is none. */
  result?: string
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

/** The calls of a message, as it is kept. */
export const stepsIn = (calls: readonly Record<string, unknown>[] | null): ToolStep[] =>
  (calls ?? []).map(({ id, function: called }) => {
    const { name, arguments: text } = isObject(called) ? called : {}
    return { id: textOf(id), name: textOf(name), text: textOf(text) }
  })

/** Steps with what a stream adds to one of them; `index` counts them from the first of the answer. */
export function grown(steps: readonly ToolStep[], { index, ...piece }: CallPiece): ToolStep[] {
  const known = steps[index] ?? { id: '', name: '', text: '' }
  const step = {
    ...known,
    id: piece.id ?? known.id,
    name: piece.function?.name ?? known.name,
    text: known.text + (piece.function?.arguments ?? ''),
  }
  return [...steps.slice(0, index), step, ...steps.slice(index + 1)]
}

/** Steps with a result, at the first that waits for it: ids may come again in later answers. */
export function answered(
  steps: readonly ToolStep[],
  { tool_call_id: id, content }: ToldResult,
): ToolStep[] {
  const at = steps.findIndex((step) => step.id === id && step.result === undefined)
  return steps.map((step, index) => (index === at ? { ...step, result: content } : step))
}
