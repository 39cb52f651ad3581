import { sumOthers, type ClusterView } from './slice-document'
import type { SliceStore, StoreMoment } from './slice-store'
import type { BucketUse, LimitBuckets } from '../counters'
import { systemClock, type Clock } from '../../platform/clock'

interface Ports {
  /** The use on this node, windows first. */
  own: readonly BucketUse[]
  store: SliceStore
  node: string
  view: (moment: StoreMoment, isWindow: boolean) => ClusterView
  clock?: Clock
}

/** The longest wait for other nodes to state what they use. Milliseconds. */
const maxWaitMs = 50

/** Returns the use of limits on all nodes, each of which states it first. Rejects as the store does. */
export async function readUse(
  at: LimitBuckets,
  { own, store, node, view, clock = systemClock }: Ports,
): Promise<BucketUse[]> {
  const buckets = [...at.windows, ...at.running].map(({ id }) => id)
  if (buckets.length === 0) return []
  const first = await store.read(buckets)
  const viewOf = (moment: StoreMoment, position: number) =>
    view(moment, position < at.windows.length)
  const isStale = (moment: typeof first) => (position: number) =>
    Object.entries(moment.slices[position]?.document ?? {}).some(
      ([name, { hasLeft, statedAtMs }]) =>
        name !== node &&
        !hasLeft &&
        !viewOf(moment, position).isSilent(name, statedAtMs) &&
        // Within a millisecond it may have been stated before that node's last request.
        statedAtMs <= first.nowMs,
    )
  let reading = first
  const startedMs = clock.monotonicMs()
  for (let pauseMs = 1; ; pauseMs *= 2) {
    const stale = [...buckets.keys()].filter(isStale(reading))
    if (stale.length === 0 || clock.monotonicMs() - startedMs + pauseMs > maxWaitMs) break
    // Twice: the first recall may be answered in the millisecond of the first read.
    if (pauseMs <= 2) {
      await store.recall(stale.map((one) => ({ bucket: buckets[one] ?? '', units: 0, from: node })))
    }
    await clock.sleep(pauseMs)
    reading = await store.read(buckets)
  }
  return own.map((use, position) => {
    const otherSlices = sumOthers(
      reading.slices[position]?.document ?? {},
      viewOf(reading, position),
    )
    const resets = [use.resetMs, ...otherSlices.expiring.map(([inMs]) => inMs)].filter(
      (ms) => ms > 0,
    )
    return {
      used: use.used + otherSlices.used,
      resetMs: position < at.windows.length && resets.length > 0 ? Math.min(...resets) : 0,
    }
  })
}
