import { beforeEach, describe, expect, test } from 'bun:test'
import { accounts, alone, BreakerWorld, candidateOf, one } from '../../testing/routing/breakers'

let world: BreakerWorld

beforeEach(() => {
  world = new BreakerWorld()
})

describe('the breaker of an account', () => {
  test('a success leaves no state', () => {
    world.succeed(1000)
    expect([world.breakers.size, world.breakers.accountCount, world.waitMs()]).toEqual([0, 0, 0])
  })

  test('five failures in a row open it, however far apart', () => {
    world.fail(4)
    world.nowMs += 3_600_000
    expect(world.waitMs()).toBe(0)
    world.fail()
    expect(world.waitMs()).toBe(5000)
    expect(world.changes).toEqual([
      { candidate: one, accountId: alone, isOpen: true, openMs: 5000 },
    ])
  })

  test('a success between them is a new start', () => {
    world.fail(4)
    world.succeed()
    world.fail(4)
    expect(world.waitMs()).toBe(0)
  })

  test('half of many failing opens it, less than half does not', () => {
    for (let k = 0; k < 40; k++) {
      world.fail()
      world.succeed(2)
    }
    expect(world.waitMs()).toBe(0)
    for (let k = 0; k < 60; k++) world.fail(1 + (k % 4))
    expect(world.waitMs()).toBeGreaterThan(0)
  })

  test('failures of an earlier window expire', () => {
    for (let k = 0; k < 9; k++) {
      world.fail()
      world.succeed()
    }
    world.nowMs += 10_001
    world.succeed()
    expect([world.breakers.size, world.breakers.accountCount]).toEqual([0, 0])
    world.fail()
    expect(world.waitMs()).toBe(0)
  })

  test('lets one attempt through after its time, while the others wait for it', () => {
    world.fail(5)
    world.nowMs += 5000
    expect(world.waitMs()).toBe(0)
    const probe = world.breakers.begin(one, alone)
    expect(world.waitMs()).toBeGreaterThan(0)
    world.breakers.recordSuccess(probe)
    expect([world.waitMs(), world.breakers.size]).toEqual([0, 0])
    expect(world.changes.map(({ isOpen }) => isOpen)).toEqual([true, false])
  })

  test('an attempt that fails then opens it for twice as long, at most for the longest', () => {
    world.fail(5)
    const waits = Array.from({ length: 5 }, () => {
      const wait = world.waitMs()
      world.nowMs += wait
      world.fail()
      return wait
    })
    expect(waits).toEqual([5000, 10_000, 20_000, 30_000, 30_000])
  })

  test('an attempt that shows nothing makes room for the next', () => {
    world.fail(5)
    world.nowMs += 5000
    world.breakers.abandon(world.breakers.begin(one, alone))
    expect(world.waitMs()).toBe(0)
  })

  test('an attempt that never ends keeps the others waiting for a while only', () => {
    world.fail(5)
    world.nowMs += 5000
    world.breakers.begin(one, alone)
    world.nowMs += 10_000
    expect(world.waitMs()).toBe(0)
  })

  test('ignores the results of requests that began before it opened', () => {
    const early = world.breakers.begin(one, alone)
    world.nowMs += 1
    world.fail(5)
    world.breakers.recordSuccess(early)
    expect(world.waitMs()).toBe(5000)
    world.nowMs += 5000
    world.breakers.recordFailure(early)
    expect(world.waitMs()).toBe(0)
  })

  test('skips a provider for its Retry-After, up to the maximum', () => {
    world.fail(1, { busyMs: 2000 })
    expect(world.waitMs()).toBe(2000)
    const other = candidateOf('conn_2')
    world.fail(1, { candidate: other, busyMs: 3_600_000 })
    expect(world.waitMs(alone, other)).toBe(30_000)
  })

  test('U13: one customer’s failing credential opens no breaker of other customers or models', () => {
    const theirs = candidateOf('conn_theirs', 'fake/one', 'user_1')
    world.fail(100, { candidate: theirs })
    expect(world.waitMs(alone, theirs)).toBeGreaterThan(0)
    const others = [
      one,
      candidateOf('conn_other', 'fake/one', 'user_2'),
      candidateOf('conn_theirs', 'fake/two', 'user_1'),
    ]
    expect(others.map((other) => world.waitMs(alone, other))).toEqual([0, 0, 0])
  })

  test('with no time at all nothing is ever passed over or remembered', () => {
    world = new BreakerWorld({ maxOpenMs: 0 })
    world.fail(100)
    world.fail(1, { busyMs: 7000 })
    expect([world.breakers.size, world.waitMs(), world.changes]).toEqual([0, 0, []])
  })
})

describe('memory', () => {
  test('no number of customers takes more than a bounded memory', () => {
    world = new BreakerWorld({ maxAccounts: 10 })
    for (let k = 0; k < 1000; k++) world.fail(1, { candidate: candidateOf(`conn_${k}`) })
    expect([world.breakers.size, world.breakers.accountCount]).toEqual([10, 10])
    world = new BreakerWorld({ maxAccounts: 10 })
    for (let k = 0; k < 1000; k++) world.fail(1, { account: `user_${k}` })
    expect([world.breakers.size, world.breakers.accountCount]).toEqual([1, 10])
  })

  test('S1: one account that fails everywhere evicts no state of other accounts', () => {
    world = new BreakerWorld({ maxPerAccount: 5 })
    const theirs = candidateOf('conn_theirs')
    world.fail(5, { candidate: theirs, account: 'user_2' })
    for (let k = 0; k < 1000; k++) world.fail(1, { candidate: candidateOf(`conn_${k}`) })
    expect(world.waitMs('user_2', theirs)).toBe(5000)
    expect(world.breakers.accountCount).toBe(6)
  })

  test('some of the accounts served on a failing route are counted, for one window', () => {
    world.fail(1)
    for (const account of accounts(1000, 2)) world.succeed(1, { account })
    expect(world.breakers.accountCount).toBe(128)
    world.nowMs += 10_000
    world.succeed(1)
    expect(world.breakers.accountCount).toBe(1)
  })
})
