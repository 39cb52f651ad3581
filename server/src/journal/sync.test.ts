import { expect, test } from 'bun:test'
import { TrustedDisk } from './disk'
import { nodeFileSystem } from './file-system'
import { JournalSync } from './sync'

/** A disk that syncs at once, and others who run or not. */
function stage() {
  const state = { hasCompany: true, syncedAt: [] as number[] }
  const sync = new JournalSync({
    disk: new TrustedDisk(nodeFileSystem, () => undefined),
    flush: () => {
      state.syncedAt.push(performance.now())
      return Promise.resolve(true)
    },
    sync: 'always',
    hasCompany: () => state.hasCompany,
    onSynced: () => undefined,
    onIdle: () => undefined,
  })
  const settle = (settlements: number) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    sync.add({ settlements, resolve, reject })
    return promise
  }
  return { state, settle }
}

const tries = 12
const sorted = (values: readonly number[]) => values.toSorted((a, b) => a - b)

/** Milliseconds between two syncs, of which the first was for so many; of all tries in order. */
async function gaps(settlements: number): Promise<number[]> {
  const found: number[] = []
  for (let count = 0; count < tries; count++) {
    const { state, settle } = stage()
    await settle(settlements)
    await settle(1)
    const [first = 0, second = 0] = state.syncedAt
    found.push(second - first)
  }
  return sorted(found)
}

test('among others a sync serves four milliseconds', async () => {
  const [least = 0] = await gaps(1)
  expect(least).toBeGreaterThan(3)
  expect(least).toBeLessThan(7)
})

test('after a crowd it serves eight', async () => {
  const [least = 0] = await gaps(16)
  expect(least).toBeGreaterThan(7)
})

test('who settles last has those before him not wait on', async () => {
  const waits: number[] = []
  for (let count = 0; count < tries; count++) {
    const { state, settle } = stage()
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
