import { expect, test } from 'bun:test'
import { readUse } from './read-use'
import type { ClusterView, NodeSlice } from './slice-document'
import type { SliceStore, StoreMoment } from './slice-store'

const slice = (units: number, running: number, statedAtMs: number): NodeSlice => ({
  units,
  running,
  statedAtMs,
  expiring: [],
  pushesUntilMs: 0,
  hasLeft: false,
})

/** A store whose clock is `nowMs()`; the other node states three requests when it is recalled. */
function createStore(nowMs: () => number): SliceStore {
  let stated = slice(10, 0, nowMs())
  const moment = (): StoreMoment => ({
    nowMs: nowMs(),
    epoch: 'epoch',
    sinceMs: 0,
    hasLostSlices: false,
  })
  return {
    kind: 'redis',
    isAway: false,
    read: async (buckets) => ({
      ...moment(),
      slices: buckets.map(() => ({ version: 1, document: { other: stated } })),
    }),
    write: async () => [],
    beat: async () => ({ ...moment(), seenAtMs: new Map() }),
    leave: async () => undefined,
    recall: async () => {
      stated = slice(10, 3, nowMs())
    },
  }
}

const view = ({ nowMs }: StoreMoment): ClusterView => ({
  nowMs,
  node: 'one',
  nodes: 2,
  isDead: () => false,
  isSilent: () => false,
})

test.each([
  ['stands still for the first reads', [7, 7, 7, 7, 8]],
  ['goes on with each read', [7, 7, 8, 9, 10]],
])(
  'requests of another node in the millisecond of its statement are in the use: the clock %s',
  async (_, times) => {
    let at = 0
    const store = createStore(() => times[Math.min(at++, times.length - 1)] ?? 0)
    const used = await readUse(
      { windows: [], running: [{ id: 'running:user_1', limit: 10 }] },
      { own: [{ used: 1, resetMs: 0 }], store, node: 'one', view },
    )
    expect(used).toEqual([{ used: 4, resetMs: 0 }])
  },
)
