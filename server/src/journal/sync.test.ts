import { afterEach, beforeEach, expect, jest, spyOn, test } from 'bun:test'
import { TrustedDisk } from './disk'
import { nodeFileSystem } from './file-system'
import { JournalSync } from './sync'

const clock = { ms: 0 }

// Timers that a test does not advance never run: a sync that waits for one hangs the test.
beforeEach(() => {
  jest.useFakeTimers()
  clock.ms = 0
  spyOn(performance, 'now').mockImplementation(() => clock.ms)
})
afterEach(() => {
  jest.restoreAllMocks()
  jest.useRealTimers()
})

/** A disk that syncs at once, and others who run or not. */
function createFixture(mode: 'always' | 'batch' = 'always') {
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
  })
  const settle = (settlements: number) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    sync.add({ settlements, resolve, reject })
    return promise
  }
  return { state, settle, sync }
}

/** Lets a millisecond pass, and all that follows from it. */
async function passMs(): Promise<void> {
  clock.ms += 1
  jest.advanceTimersByTime(1)
  for (let turn = 0; turn < 20; turn++) await Promise.resolve()
}

/** Milliseconds between two syncs, of which the first was for so many. */
async function gapAfter(settlements: number): Promise<number> {
  const { state, settle } = createFixture()
  await settle(settlements)
  const second = settle(1)
  const before = clock.ms
  while (state.syncs < 2) await passMs()
  await second
  return clock.ms - before
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

test('a sync waits up to four milliseconds after one that covered several settlements', async () => {
  expect(await gapAfter(8)).toBe(4)
})

test('a sync waits up to eight milliseconds after a large group', async () => {
  expect(await gapAfter(16)).toBe(8)
})

test('the last open request starts the sync at once', async () => {
  const { state, settle } = createFixture()
  await settle(16)
  const before = settle(1)
  await passMs()
  expect(state.syncs).toBe(1)
  state.hasCompany = false
  await Promise.all([before, settle(1)])
  expect(state.syncs).toBe(2)
})

test('in batches a write waits a moment for others, and not at all where none run', async () => {
  const { state, settle, sync } = createFixture('batch')
  await settle(1)
  expect(sync.waitMs()).toBe(1)
  state.hasCompany = false
  expect(sync.waitMs()).toBe(0)
})
