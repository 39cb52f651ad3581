import { expect, test } from 'bun:test'
import { readinessOf } from './readiness'

/** A readiness over a database and a clock that the test sets. */
function ready(graceMs: number) {
  const world = { isAway: false, nowMs: 0, isStopping: false }
  const ping = () => (world.isAway ? Promise.reject(new Error('away')) : Promise.resolve())
  return { world, look: readinessOf({ ping, state: world, graceMs, now: () => world.nowMs }) }
}

test('a database that is away for less than leases last takes no node out; for longer it does', async () => {
  const { world, look } = ready(45_000)
  expect(await look()).toEqual({ isReady: true, checks: { database: true, running: true } })
  world.isAway = true
  world.nowMs = 1_000_000
  expect(await look()).toEqual({ isReady: true, checks: { database: false, running: true } })
  world.nowMs += 44_999
  expect(await look()).toMatchObject({ isReady: true })
  world.nowMs += 1
  expect(await look()).toEqual({ isReady: false, checks: { database: false, running: true } })
  world.isAway = false
  expect(await look()).toMatchObject({ isReady: true })
})

test('what it was away before does not count once it has answered', async () => {
  const { world, look } = ready(45_000)
  for (let time = 0; time < 4; time++) {
    world.isAway = true
    expect(await look()).toMatchObject({ isReady: true })
    world.isAway = false
    world.nowMs += 30_000
    expect(await look()).toMatchObject({ isReady: true })
  }
})

test('one that stops is not ready, whatever its database does', async () => {
  const { world, look } = ready(45_000)
  world.isStopping = true
  expect(await look()).toEqual({ isReady: false, checks: { database: true, running: false } })
})

test('a database that never answers counts as away', async () => {
  const state = { isStopping: false }
  const look = readinessOf({ ping: () => new Promise(() => undefined), state, graceMs: 0 })
  expect(await look()).toMatchObject({ isReady: false, checks: { database: false } })
})
