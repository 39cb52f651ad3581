import type { Figure } from '../../server/testing/figures'

export type Verdict = 'held' | 'broken' | 'inconclusive'

/** So often a figure is measured before it counts as broken. */
export const maxAttempts = 5
/** So many attempts within its bound make one hold that was beyond it in others. */
const minHeld = 3

/** The attempts to measure one figure. */
export interface Attempts {
  figure: Figure
  /** One value an attempt, the worst where a test records it several times. */
  values: number[]
}

/** Names a figure across attempts. */
export const keyOf = ({ file, name }: Pick<Figure, 'file' | 'name'>): string => `${file}\n${name}`

/** Tells whether a value is within the bound of a figure. */
export const isWithin = ({ atMost, atLeast }: Pick<Figure, 'atMost' | 'atLeast'>, value: number) =>
  value <= (atMost ?? Infinity) && value >= (atLeast ?? -Infinity)

/** Adds the figures of one attempt, the worst of those with one name. */
export function addAttempt(all: Map<string, Attempts>, figures: readonly Figure[]): void {
  for (const [key, same] of Map.groupBy(figures, keyOf)) {
    const worst = same.toSorted((one, other) => excess(other) - excess(one))[0]
    if (!worst) continue
    const attempts = all.get(key) ?? { figure: worst, values: [] }
    attempts.values.push(worst.value)
    all.set(key, attempts)
  }
}

/** By how much a value is beyond its bound; negative within. */
const excess = ({ value, atMost = Infinity, atLeast = -Infinity }: Figure) =>
  Math.max(value - atMost, atLeast - value)

/** Tells whether more attempts could change the verdict. */
export function isDecided({ figure, values }: Attempts): boolean {
  const held = values.filter((value) => isWithin(figure, value)).length
  return held === values.length || held >= minHeld || values.length >= maxAttempts
}

/**
 * Judges a figure. It is broken where five of five attempts are beyond its bound on a machine that did not change
 * meanwhile; held where all attempts are within, or three of up to five.
 */
export function judge({ figure, values }: Attempts, isSteady: boolean): Verdict {
  const held = values.filter((value) => isWithin(figure, value)).length
  if (values.length > 0 && (held === values.length || held >= minHeld)) return 'held'
  return held === 0 && values.length >= maxAttempts && isSteady ? 'broken' : 'inconclusive'
}
