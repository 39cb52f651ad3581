import type { OtherSlices } from './slice-document'
import type { LimitBucket } from '../caller-limits'
import { runningWaitMs, type LimitRefusal } from '../counters'

/** The wait for idle units of another node that did not come in time. Milliseconds. */
const idleWaitMs = 250

type Expiring = readonly (readonly [number, number])[]

/**
 * The refusal of a window by all nodes: it lasts until enough of what they have in use becomes free. Where idle units
 * of another node did not come in time, a repeat soon after finds them.
 */
export function refuseWindow(
  { id, limit }: LimitBucket,
  weight: number,
  { own, otherSlices }: { own: Expiring; otherSlices: OtherSlices },
): LimitRefusal {
  const expiring = [...own, ...otherSlices.expiring].toSorted(([a], [b]) => a - b)
  let used = 0
  for (const [, units] of expiring) used += units
  const reading = {
    id,
    limit,
    used,
    remaining: Math.max(0, limit - used),
    resetMs: expiring[0]?.[0] ?? idleWaitMs,
  }
  let excess = used + weight - limit
  let waitMs = idleWaitMs
  for (const [inMs, units] of expiring) {
    if (excess <= 0) break
    excess -= units
    waitMs = inMs
  }
  return { kind: 'refused', by: 'window', reading, waitMs }
}

/** The refusal of a place: when a request ends is unknown. */
export const refuseSlot = ({ id, limit }: LimitBucket): LimitRefusal => ({
  kind: 'refused',
  by: 'running',
  reading: { id, limit, used: limit, remaining: 0, resetMs: runningWaitMs },
  waitMs: runningWaitMs,
})

/** The wait for a store that was late. Milliseconds. */
const lateWaitMs = 1000

/** A refusal for want of a grant, of a demand that fits by what all nodes use: the store answers the next one. */
export const sooner = (refusal: LimitRefusal): LimitRefusal => ({
  ...refusal,
  waitMs: Math.min(refusal.waitMs, lateWaitMs),
})
