/** What one model was asked. What each answer costs is the same, and `answers.ts` knows it. */
export interface Billed {
  answers: number
  /** Of them, those whose caller had gone before the end. */
  cut: number
}

export type Bill = Record<string, Billed>

const numberIn = (value: object, name: string) => Number(Reflect.get(value, name) ?? 0)

/** A bill as it came over the wire. */
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
