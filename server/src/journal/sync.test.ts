import { expect, test } from 'bun:test'
import { TrustedDisk } from './disk'
import { nodeFileSystem } from './file-system'
import { JournalSync } from './sync'
import { TestClock } from '../../testing/clock'

/** A disk that syncs at once, and others who run or not. */
function createFixture(mode: 'always' | 'batch' = 'always') {
  const clock = new TestClock()
  const state = { hasCompany: true, syncs: 0 }
  const sync = new JournalSync({
    disk: new TrustedDisk(nodeFileSystem, () => undefined),
    flush: () => {
      state.syncs += 1
      return Promise.resolve(true)
    },
    sync: mode,
    hasCompany: () => state.hasCompany,
    onSynced: () => undefined,
    onIdle: () => undefined,
    clock,
  })
  const settle = (settlements: number) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    sync.add({ settlements, resolve, reject })
    return promise
  }
  return { clock, state, settle, sync }
}

/** Milliseconds between two syncs, of which the first was for so many. */
async function gapAfter(settlements: number): Promise<number> {
  const { clock, state, settle } = createFixture()
  await settle(settlements)
  const beforeMs = clock.monotonicMs()
  await clock.run(settle(1))
  expect([state.syncs, clock.pending]).toEqual([2, 0])
  return clock.monotonicMs() - beforeMs
}

test('a lone settlement does not wait for open requests, which may be streams of minutes', async () => {
  const { state, settle } = createFixture()
  for (let count = 0; count < 50; count++) await settle(1)
  expect(state.syncs).toBe(50)
})

test('after few settlements a wait is tried once in 64 syncs', async () => {
  const { settle, sync } = createFixture()
  const waits: number[] = []
  for (let count = 0; count < 64; count++) {
    await settle(1)
    waits.push(sync.waitMs())
  }
  expect(waits).toEqual([...Array<number>(63).fill(0), 4])
})

test('a sync waits up to four milliseconds after a sync that covered several settlements', async () => {
  expect(await gapAfter(8)).toBe(4)
})

test('a sync waits up to eight milliseconds after a large group', async () => {
  expect(await gapAfter(16)).toBe(8)
})

test('the last open request starts the sync at once', async () => {
  const { clock, state, settle } = createFixture()
  await settle(16)
  const before = settle(1)
  await clock.advance(1)
  expect(state.syncs).toBe(1)
  state.hasCompany = false
  await Promise.all([before, settle(1)])
  expect([state.syncs, clock.pending]).toEqual([2, 0])
})

test('in batches a write waits a moment for others, and not at all without any running', async () => {
  const { state, settle, sync } = createFixture('batch')
  await settle(1)
  expect(sync.waitMs()).toBe(1)
  state.hasCompany = false
  expect(sync.waitMs()).toBe(0)
})
