import { expect, test } from 'bun:test'
import { TrustedDisk } from './disk'
import { nodeFileSystem } from './file-system'
import { JournalSync } from './sync'

/** A disk that syncs at once, and others who run or not. */
function createFixture(mode: 'always' | 'batch' = 'always') {
  const state = { hasCompany: true, syncedAt: [] as number[] }
  const sync = new JournalSync({
    disk: new TrustedDisk(nodeFileSystem, () => undefined),
    flush: () => {
      state.syncedAt.push(performance.now())
      return Promise.resolve(true)
    },
    sync: mode,
    hasCompany: () => state.hasCompany,
    onSynced: () => undefined,
    onIdle: () => undefined,
  })
  const settle = (settlements: number) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    sync.add({ settlements, resolve, reject })
    return promise
  }
  return { state, settle, sync }
}

const tries = 12
const sorted = (values: readonly number[]) => values.toSorted((a, b) => a - b)

/** Milliseconds between two syncs, of which the first was for so many; of all tries in order. */
async function gaps(settlements: number): Promise<number[]> {
  const found: number[] = []
  for (let count = 0; count < tries; count++) {
    const { state, settle } = createFixture()
    await settle(settlements)
    await settle(1)
    const [first = 0, second = 0] = state.syncedAt
    found.push(second - first)
  }
  return sorted(found)
}

test('a lone settlement does not wait for open requests, which may be streams of minutes', async () => {
  const { state, settle } = createFixture()
  for (let count = 0; count < 50; count++) await settle(1)
  const waits = state.syncedAt.slice(1).map((at, index) => at - (state.syncedAt[index] ?? 0))
  // A wait is four milliseconds; the median tolerates a busy machine.
  expect(sorted(waits)[Math.floor(waits.length / 2)]).toBeLessThan(3)
})

test('after few settlements a wait is tried once in 64 syncs', async () => {
  const { state, settle } = createFixture()
  for (let count = 0; count < 65; count++) await settle(1)
  const [before = 0, last = 0] = state.syncedAt.slice(-2)
  expect(last - before).toBeGreaterThan(3)
})

test('a sync waits up to four milliseconds after one that covered several settlements', async () => {
  const [least = 0] = await gaps(8)
  expect(least).toBeGreaterThan(3)
  expect(least).toBeLessThan(7)
})

test('a sync waits up to eight milliseconds after a large group', async () => {
  const [least = 0] = await gaps(16)
  expect(least).toBeGreaterThan(7)
})

test('the last open request starts the sync at once', async () => {
  const waits: number[] = []
  for (let count = 0; count < tries; count++) {
    const { state, settle } = createFixture()
    await settle(16)
    const before = settle(1)
    state.hasCompany = false
    const last = settle(1)
    await Promise.all([before, last])
    const [first = 0, second = 0] = state.syncedAt
    expect(state.syncedAt).toHaveLength(2)
    waits.push(second - first)
  }
  expect(sorted(waits)[0]).toBeLessThan(4)
})

test('in batches a write waits a moment for others, and not at all where none run', async () => {
  const { state, settle, sync } = createFixture('batch')
  await settle(1)
  expect(sync.waitMs()).toBe(1)
  state.hasCompany = false
  expect(sync.waitMs()).toBe(0)
})
