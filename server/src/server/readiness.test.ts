import { expect, test } from 'bun:test'
import { createReadiness } from './readiness'

const never = () => new Promise<never>(() => undefined)
const yes = () => Promise.resolve(true)
const answerMs = () => 100

/** A readiness over a database and a clock that the test sets. */
function ready(graceMs: number) {
  const world = { isAway: false, isJournalWritable: true, nowMs: 0, isStopping: false }
  const ping = () => (world.isAway ? Promise.reject(new Error('away')) : Promise.resolve())
  const isJournalWritable = () => Promise.resolve(world.isJournalWritable)
  const ports = { ping, answerMs, isJournalWritable, state: world, graceMs, now: () => world.nowMs }
  return { world, readiness: createReadiness(ports) }
}

test('a database that is away for less than leases last takes no node out; for longer it does', async () => {
  const { world, readiness } = ready(45_000)
  expect(await readiness()).toEqual({
    isReady: true,
    checks: { database: true, journal: true, running: true },
  })
  world.isAway = true
  world.nowMs = 1_000_000
  expect(await readiness()).toEqual({
    isReady: true,
    checks: { database: false, journal: true, running: true },
  })
  world.nowMs += 44_999
  expect(await readiness()).toMatchObject({ isReady: true })
  world.nowMs += 1
  expect(await readiness()).toEqual({
    isReady: false,
    checks: { database: false, journal: true, running: true },
  })
  world.isAway = false
  expect(await readiness()).toMatchObject({ isReady: true })
})

test('an outage before an answer does not count after it', async () => {
  const { world, readiness } = ready(45_000)
  for (let time = 0; time < 4; time++) {
    world.isAway = true
    expect(await readiness()).toMatchObject({ isReady: true })
    world.isAway = false
    world.nowMs += 30_000
    expect(await readiness()).toMatchObject({ isReady: true })
  }
})

test('a stopping node is not ready, in any state of its database', async () => {
  const { world, readiness } = ready(45_000)
  world.isStopping = true
  expect(await readiness()).toEqual({
    isReady: false,
    checks: { database: true, journal: true, running: false },
  })
})

test('a database that never answers counts as away', async () => {
  const state = { isStopping: false }
  const readiness = createReadiness({
    ping: never,
    answerMs,
    isJournalWritable: yes,
    state,
    graceMs: 0,
  })
  expect(await readiness()).toMatchObject({ isReady: false, checks: { database: false } })
})

test('M4: a journal that cannot be written, or does not answer, takes its node out at once', async () => {
  const { world, readiness } = ready(45_000)
  world.isJournalWritable = false
  expect(await readiness()).toEqual({
    isReady: false,
    checks: { database: true, journal: false, running: true },
  })
  world.isJournalWritable = true
  expect(await readiness()).toMatchObject({ isReady: true })
  const stuck = createReadiness({
    ping: () => Promise.resolve(),
    answerMs,
    isJournalWritable: never,
    state: { isStopping: false },
    graceMs: 45_000,
  })
  expect(await stuck()).toMatchObject({ isReady: false, checks: { journal: false } })
})
