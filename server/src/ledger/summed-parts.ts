import type { Window } from '../platform/time-window'

/** The sums of a grain that begin in a part of a window. */
export interface SummedPart extends Window {
  grain: 'minute' | 'hour' | 'day'
}

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const minuteMs = 60_000
/** Later than any usage, and a time that the database knows. */
const latestMs = Date.UTC(9999, 0)

const ceil = (ms: number, unitMs: number) => Math.ceil(ms / unitMs) * unitMs
const floor = (ms: number, unitMs: number) => Math.floor(ms / unitMs) * unitMs

/**
 * Splits a window into the sums by day, hour and minute, in UTC, that make it up: the coarsest that lie in it. Clocks
 * differ from UTC by whole minutes, so the parts cover the window exactly.
 */
export function toSummedParts({ fromMs, toMs: endMs }: Window): SummedPart[] {
  const toMs = Math.min(endMs, latestMs)
  return splitBy({ grain: 'day', fromMs, toMs })
}

const finerGrains = {
  day: { unitMs: dayMs, finer: 'hour' },
  hour: { unitMs: hourMs, finer: 'minute' },
  minute: { unitMs: minuteMs, finer: undefined },
} as const

function splitBy({ grain, fromMs, toMs }: SummedPart): SummedPart[] {
  if (fromMs >= toMs) return []
  const { unitMs, finer } = finerGrains[grain]
  if (finer === undefined) return [{ grain, fromMs, toMs }]
  const [firstMs, lastMs] = [ceil(fromMs, unitMs), floor(toMs, unitMs)]
  if (firstMs >= lastMs) return splitBy({ grain: finer, fromMs, toMs })
  return [
    ...splitBy({ grain: finer, fromMs, toMs: firstMs }),
    { grain, fromMs: firstMs, toMs: lastMs },
    ...splitBy({ grain: finer, fromMs: lastMs, toMs }),
  ]
}
