import { sumOthers, type ClusterView } from './slice-document'
import type { SliceStore, StoreMoment } from './slice-store'
import type { BucketUse, LimitBuckets } from '../counters'

interface Ports {
  /** The use on this node, windows first. */
  own: readonly BucketUse[]
  store: SliceStore
  node: string
  view: (moment: StoreMoment, isWindow: boolean) => ClusterView
}

/** The longest wait for other nodes to state what they use. Milliseconds. */
const maxWaitMs = 50

/** Returns the use of limits on all nodes, each of which states it first. Rejects as the store does. */
export async function readUse(
  at: LimitBuckets,
  { own, store, node, view }: Ports,
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
  let read = first
  const startedMs = performance.now()
  for (let pauseMs = 1; ; pauseMs *= 2) {
    const stale = [...buckets.keys()].filter(isStale(read))
    if (stale.length === 0 || performance.now() - startedMs + pauseMs > maxWaitMs) break
    // Twice: the first recall may be answered in the millisecond of the first read.
    if (pauseMs <= 2) {
      await store.recall(stale.map((one) => ({ bucket: buckets[one] ?? '', units: 0, from: node })))
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
    read = await store.read(buckets)
  }
  return own.map((use, position) => {
    const others = sumOthers(read.slices[position]?.document ?? {}, viewOf(read, position))
    const resets = [use.resetMs, ...others.expiring.map(([inMs]) => inMs)].filter((ms) => ms > 0)
    return {
      used: use.used + others.used,
      resetMs: position < at.windows.length && resets.length > 0 ? Math.min(...resets) : 0,
    }
  })
}
