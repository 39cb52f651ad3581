/** Request counts of one model. All its answers cost the same, as defined in `answers.ts`. */
export interface Billed {
  answers: number
  /** Requests whose client disconnected before the end. */
  cut: number
}

export type Bill = Record<string, Billed>

const numberIn = (value: object, name: string) => Number(Reflect.get(value, name) ?? 0)

/** Parses a bill from JSON. */
export function toBill(json: unknown): Bill {
  const entries: [string, unknown][] =
    typeof json === 'object' && json !== null ? Object.entries(json) : []
  return Object.fromEntries(
    entries.flatMap(([model, value]) =>
      typeof value === 'object' && value !== null
        ? [[model, { answers: numberIn(value, 'answers'), cut: numberIn(value, 'cut') }]]
        : [],
    ),
  )
}
