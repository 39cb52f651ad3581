import { beforeEach, describe, expect, test } from 'bun:test'
import { accounts, alone, BreakerWorld, one } from '../../testing/routing/breakers'

let world: BreakerWorld

beforeEach(() => {
  world = new BreakerWorld()
})

const openForAll = () => {
  for (const account of accounts(4)) world.fail(5, { account })
  expect(world.breakers.list()).toMatchObject([{ isOpen: true, waitMs: 5000, openAccounts: 4 }])
}

const tryLast = (account = alone) =>
  world.breakers.allowsLast(one, account) ? world.breakers.begin(one, account, true) : undefined

describe('S1: the breaker for all', () => {
  const outsider = 'user_outside'

  test('is not opened by one account, with any failures over any time', () => {
    for (let second = 0; second < 600; second++) {
      world.fail(1 + (second % 7), { busyMs: second % 3 === 0 ? 3_600_000 : 0 })
      if (second % 50 === 0) world.succeed()
      expect(world.waitMs(outsider)).toBe(0)
      world.nowMs += 1000
    }
    expect(world.changes.every(({ accountId }) => accountId === alone)).toBe(true)
  })

  test('is not opened by two accounts', () => {
    for (let k = 0; k < 1000; k++) {
      for (const account of accounts(2)) world.fail(1, { account })
      world.nowMs += 100
    }
    expect(world.waitMs(outsider)).toBe(0)
  })

  test('opens where half of at least twenty attempts of several accounts failed', () => {
    for (const account of accounts(4).slice(0, 3)) world.fail(5, { account })
    // Fifteen of fifteen are not enough, and nor are nineteen.
    world.fail(4, { account: 'user_4' })
    expect(world.waitMs(outsider)).toBe(0)
    world.fail(1, { account: 'user_4' })
    expect(world.waitMs(outsider)).toBe(5000)
    expect(world.changes.at(-1)).toEqual({
      candidate: one,
      accountId: null,
      isOpen: true,
      openMs: 5000,
    })
  })

  test('each account counts for five attempts at most: successes outweigh as many failures', () => {
    for (const account of accounts(6, 10)) {
      world.fail(1, { account })
      world.succeed(30, { account })
    }
    // Five in whose requests all fail, beside six that are served: less than half.
    for (const account of accounts(5)) world.fail(50, { account })
    expect(world.waitMs(outsider)).toBe(0)
    for (const account of accounts(2, 6)) world.fail(50, { account })
    expect(world.waitMs(outsider)).toBeGreaterThan(0)
  })

  test('accounts that never failed count as served', () => {
    world.fail(1)
    for (const account of accounts(6, 10)) world.succeed(30, { account })
    for (const account of accounts(5)) world.fail(50, { account })
    expect(world.waitMs(outsider)).toBe(0)
  })

  test('failures of an earlier window do not count', () => {
    for (const account of accounts(3)) world.fail(5, { account })
    world.nowMs += 10_000
    for (const account of accounts(3, 4)) world.fail(5, { account })
    expect(world.waitMs(outsider)).toBe(0)
  })

  test('timeouts of whole requests, which may be their prompts’ fault, stay with their accounts', () => {
    for (const account of accounts(30)) world.fail(20, { account, isShared: false })
    expect([world.waitMs('user_1'), world.waitMs(outsider)]).toEqual([5000, 0])
  })

  test('the probe is not of the account that opened it', () => {
    openForAll()
    world.nowMs += 5000
    expect(world.waitMs('user_4')).toBe(5000)
    expect(world.waitMs(outsider)).toBe(0)
  })

  test('a probe delays only its own account, and a failed probe delays none', () => {
    openForAll()
    world.nowMs += 5000
    const probe = world.breakers.begin(one, 'user_bad')
    expect([world.waitMs('user_bad') > 0, world.waitMs(outsider)]).toEqual([true, 0])
    world.breakers.recordFailure(probe)
    expect([world.waitMs('user_bad') > 0, world.waitMs(outsider)]).toEqual([true, 0])
    // Also where that account goes on and on.
    for (let k = 0; k < 600; k++) {
      world.fail(1, { account: 'user_bad' })
      world.nowMs += 1000
    }
    expect(world.waitMs(outsider)).toBe(0)
    world.succeed(1, { account: outsider })
    expect(world.breakers.list()[0]?.isOpen).toBe(false)
  })

  test('bad probes of three accounts open it for twice as long', () => {
    openForAll()
    world.nowMs += 5000
    for (const account of accounts(3, 20)) world.fail(1, { account })
    expect(world.waitMs(outsider)).toBe(10_000)
  })

  test('a few probe at the same time', () => {
    openForAll()
    world.nowMs += 5000
    const probes = accounts(8, 20).map((account) => world.breakers.begin(one, account))
    expect(world.waitMs(outsider)).toBe(10_000)
    const [first] = probes
    if (first) world.breakers.abandon(first)
    expect(world.waitMs(outsider)).toBe(0)
  })

  test('one good answer closes it for all, and each that had failed may show at once that it works', () => {
    openForAll()
    world.nowMs += 5000
    world.succeed(1, { account: outsider })
    expect(accounts(4).map((account) => world.waitMs(account))).toEqual([0, 0, 0, 0])
    expect(world.breakers.list()).toMatchObject([{ isOpen: false, inARow: 0 }])
    world.fail(1, { account: outsider })
    // What was counted before does not open it again.
    expect(world.waitMs('user_other')).toBe(0)
  })
})

describe('S1: the last route', () => {
  test('ten attempts are allowed at once, and one a second', () => {
    world.fail(5)
    const attempts = Array.from({ length: 20 }, () => {
      const attempt = tryLast()
      if (attempt) world.breakers.recordFailure(attempt)
      return attempt !== undefined
    })
    expect(attempts.filter(Boolean)).toHaveLength(10)
    world.nowMs += 3000
    expect([1, 2, 3, 4].map(() => tryLast() !== undefined)).toEqual([true, true, true, false])
    // It is no probe: how long the breaker is open stays as it was.
    expect(world.breakers.list()).toMatchObject([{ openAccounts: 1 }])
    world.nowMs += 2000
    world.breakers.abandon(world.breakers.begin(one, alone))
    expect(world.waitMs()).toBe(0)
  })

  test('ten of one account run at once, and a hundred of all', () => {
    world.fail(5)
    for (let k = 0; k < 10; k++) expect(tryLast()).toBeDefined()
    world.nowMs += 60_000
    expect(tryLast()).toBeUndefined()
    for (const account of accounts(9, 2)) {
      world.fail(5, { account })
      for (let k = 0; k < 10; k++) expect(tryLast(account)).toBeDefined()
    }
    expect(tryLast('user_last')).toBeUndefined()
  })

  test('one good answer closes the account’s breaker', () => {
    world.fail(5)
    const attempt = tryLast()
    if (attempt) world.breakers.recordSuccess(attempt)
    expect(world.waitMs()).toBe(0)
  })
})
