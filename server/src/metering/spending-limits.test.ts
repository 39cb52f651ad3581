import { describe, expect, test } from 'bun:test'
import { WindowReservation } from './window-reservation'
import { toMonth, SpendingLimits } from './spending-limits'
import { caller, event, finish, limit, createFixture, start } from '../../testing/metering/months'
import { ApiError } from '../errors'

async function refusal(work: () => unknown): Promise<ApiError> {
  try {
    await work()
  } catch (thrown) {
    if (thrown instanceof ApiError) return thrown
    throw thrown
  }
  throw new Error('it was not refused')
}

describe('requests', () => {
  test('are rejected beyond the limit until the month ends, with the length of the month', async () => {
    const on = createFixture()
    const who = caller(limit({ requests: 2 }))
    finish(on, await on.months.admit(who))
    const running = await on.months.admit(who)
    const refused = await refusal(() => on.months.admit(who))
    const leftSeconds = 19 * 86_400
    expect(refused).toMatchObject({
      status: 429,
      code: 'rate_limit_exceeded',
      details: { limit: 2, window: 28 * 86_400, retry_after: leftSeconds },
      retryAfterSeconds: leftSeconds,
      retryable: false,
      quota: { limit: 2, remaining: 0, resetAtMs: Date.UTC(2026, 2, 1) },
    })
    on.clock.ms = leftSeconds * 1000 - 1
    expect(await refusal(() => on.months.admit(who))).toMatchObject({
      details: { retry_after: 1 },
      retryAfterSeconds: 0.001,
    })
    on.clock.ms++
    // What still runs counts in the new month, as it may yet be its first.
    finish(on, await on.months.admit(who))
    expect(await refusal(() => on.months.admit(who))).toMatchObject({ details: { limit: 2 } })
    finish(on, running, { startedAt: new Date(start).toISOString() })
    expect(await on.months.admit(who)).toBeInstanceOf(WindowReservation)
  })

  test('rejected later, and attempts before the last, count nothing', async () => {
    const on = createFixture()
    const who = caller(limit({ requests: 1 }))
    for (let tries = 0; tries < 3; tries++) (await on.months.admit(who)).end()
    const pass = await on.months.admit(who)
    on.months.note(event(on, { outcome: 'failed_over' }))
    pass.end()
    pass.end()
    expect(await on.months.admit(who)).toBeInstanceOf(WindowReservation)
  })

  test('of account and key are separate; an exhausted one rejects', async () => {
    const on = createFixture()
    const [account, key] = [limit({ requests: 3 }), limit({ id: 'key_1', requests: 1 })]
    finish(on, await on.months.admit(caller(account, key)))
    expect((await refusal(() => on.months.admit(caller(account, key)))).details['limit']).toBe(1)
    const other = limit({ id: 'key_2', requests: 5 })
    for (let count = 0; count < 2; count++)
      finish(on, await on.months.admit(caller(account, other)), { keyId: 'key_2' })
    expect((await refusal(() => on.months.admit(caller(account, other)))).details['limit']).toBe(3)
  })
})

describe('spending', () => {
  test('is the charges plus the holds of running requests; the smallest remainder counts', async () => {
    const on = createFixture()
    const who = caller(limit({ spend: 100n }), limit({ id: 'key_1', spend: 60n }))
    const first = await on.months.admit(who)
    expect(first.remaining).toBe(60n)
    first.hold(50n)
    const second = await on.months.admit(who)
    expect(second.remaining).toBe(10n)
    first.hold(30n)
    expect(second.remaining).toBe(30n)
    finish(on, first, { cost: 45n })
    expect(second.remaining).toBe(15n)
    second.hold(15n)
    second.end()
    second.hold(15n)
    const other = await on.months.admit(caller(limit({ spend: 100n })))
    expect(other.remaining).toBe(55n)
    on.months.note(event(on, { keyId: 'key_2', cost: 60n }))
    expect(other.remaining).toBe(-5n)
    expect((await on.months.admit(caller(limit({ requests: 9 })))).remaining).toBeUndefined()
  })

  test('covered by another payer counts for the key alone', async () => {
    const on = createFixture()
    const [account, key] = [limit({ spend: 10n }), limit({ id: 'key_1', spend: 10n })]
    const pass = await on.months.admit(caller(account, key))
    finish(on, pass, { accountId: 'org_1', cost: 4n })
    expect((await on.months.admit(caller(account))).remaining).toBe(10n)
    expect((await on.months.admit(caller(key))).remaining).toBe(6n)
  })

  test('is subtracted again if it could not be stored', async () => {
    const on = createFixture()
    const who = caller(limit({ spend: 10n }), limit({ id: 'key_1', spend: 10n }))
    on.months.drop(finish(on, await on.months.admit(who), { cost: 4n }))
    expect((await on.months.admit(who)).remaining).toBe(10n)
  })
})

describe('the database', () => {
  test('is read once when an account first appears, for all waiting requests', async () => {
    const on = createFixture()
    on.booked.push(event(on, { cost: 7n }))
    const who = caller(limit({ spend: 10n }))
    on.held.isHeld = true
    const waiting = Array.from({ length: 20 }, () => on.months.admit(who))
    on.release()
    for (const pass of await Promise.all(waiting)) expect(pass.remaining).toBe(3n)
    expect(on.state.readings).toBe(1)
    const pass = on.months.admit(who)
    // No promise, so no turn of the event loop.
    expect(pass).toBeInstanceOf(WindowReservation)
    expect(on.state.readings).toBe(1)
  })

  test('down, rejects a new account with 503, and no other request waits for it for a second', async () => {
    const on = createFixture()
    const known = caller(limit({ id: 'user_2', spend: 10n }))
    await on.months.admit(known)
    on.state.isDown = true
    const who = caller(limit({ spend: 0n, requests: 1 }))
    const refused = await refusal(() => on.months.admit(who))
    expect(refused).toMatchObject({ status: 503, code: 'gateway_unavailable' })
    on.clock.ms = 999
    expect(await refusal(() => on.months.admit(who))).toMatchObject({ status: 503 })
    expect([on.state.readings, on.errors.length]).toEqual([2, 1])
    // Who was seen goes on with what is known.
    await on.months.refresh()
    expect(await on.months.admit(known)).toMatchObject({ remaining: 10n })
    on.state.isDown = false
    on.clock.ms = 1000
    expect(await on.months.admit(who)).toMatchObject({ remaining: 0n })
  })

  test('returns the spending of other nodes, at each refresh, for recently used limits', async () => {
    const on = createFixture()
    const who = caller(limit({ spend: 10n }))
    const pass = await on.months.admit(who)
    on.booked.push(event(on, { cost: 4n }))
    expect(pass.remaining).toBe(10n)
    await on.months.refresh()
    expect(pass.remaining).toBe(6n)
    on.clock.ms = 1_000_000
    await on.months.refresh()
    // It still runs.
    expect(on.months.size).toBe(1)
    const made = finish(on, pass)
    await on.months.refresh()
    // It is not booked yet.
    expect(on.months.size).toBe(1)
    on.booked.push(made)
    await on.months.refresh()
    await on.months.refresh()
    expect(on.months.size).toBe(0)
  })

  test('is read in batches, where there are many', async () => {
    const on = createFixture()
    for (let number = 0; number < 501; number++)
      (await on.months.admit(caller(limit({ id: `key_${number}`, spend: 1n })))).end()
    const before = on.state.readings
    await on.months.refresh()
    expect([on.state.readings - before, on.state.readAccounts]).toEqual([2, 1])
  })

  test('does not count when it answers for a past month', async () => {
    const on = createFixture()
    on.booked.push(event(on, { cost: 9n }))
    const who = caller(limit({ spend: 10n }))
    on.clock.ms = 19 * 86_400_000 - 1
    on.held.isHeld = true
    const waiting = on.months.admit(who)
    on.clock.ms++
    // The next request is already in the new month.
    const next = on.months.admit(who)
    on.release()
    expect(await next).toMatchObject({ remaining: 10n })
    expect(await waiting).toMatchObject({ remaining: 10n })
  })
})

test('beyond 50,000 unbooked events, the oldest count as booked without a check', async () => {
  const on = createFixture()
  const who = caller(limit({ requests: 50_001, spend: 100_000n }))
  ;(await on.months.admit(who)).end()
  for (let count = 0; count < 50_001; count++) on.months.note(event(on, { cost: 1n }))
  expect((await refusal(() => on.months.admit(who))).status).toBe(429)
  let maxUnbooked = 0
  const counting = new SpendingLimits({
    read: ({ unbooked }) => {
      maxUnbooked = unbooked().length
      return Promise.resolve({
        sums: new Map([['user_1', { requests: 0, spent: 0n, tokens: 0n }]]),
        bookedIds: [],
      })
    },
    now: () => 0,
    wallMs: on.wallMs,
    onError: () => undefined,
    shares: {
      nodeId: 'node_2',
      exchange: async (usages, decide) => on.store.exchange('node_2', usages, decide),
      clocks: () => ({ monotonicMs: 0, wallMs: on.wallMs() }),
      sleep: () => Promise.resolve(),
      withTimeout: (promise) => promise,
      maxWaitMs: () => 1000,
      onError: () => undefined,
    },
  })
  await counting.admit(who)
  for (let count = 0; count < 50_001; count++) counting.note(event(on, { cost: 1n }))
  await counting.refresh()
  expect(maxUnbooked).toBe(50_000)
})

const days = (date: string) => {
  const { fromMs, toMs } = toMonth(Date.parse(date))
  return [new Date(fromMs).toISOString().slice(0, 10), (toMs - fromMs) / 86_400_000]
}

test('T04: months follow the UTC calendar, leap years included', () => {
  expect(days('2028-02-29T23:59:59.999Z')).toEqual(['2028-02-01', 29])
  expect(days('2026-12-31T23:59:59.999Z')).toEqual(['2026-12-01', 31])
  expect(days('2027-01-01T00:00:00.000Z')).toEqual(['2027-01-01', 31])
})

test('T04: each hour of three years is in one month, in any time zone of the machine', () => {
  const zone = process.env['TZ']
  try {
    for (const name of ['UTC', 'America/New_York', 'Pacific/Auckland', 'Australia/Lord_Howe']) {
      process.env['TZ'] = name
      let month = toMonth(Date.UTC(2027, 0))
      let months = 1
      const wrong: string[] = []
      for (let nowMs = Date.UTC(2027, 0); nowMs < Date.UTC(2030, 0); nowMs += 3_600_000) {
        const next = toMonth(nowMs)
        if (next.fromMs !== month.fromMs) {
          if (next.fromMs !== month.toMs) wrong.push(new Date(nowMs).toISOString())
          months += 1
        }
        if (nowMs < next.fromMs || nowMs >= next.toMs) wrong.push(new Date(nowMs).toISOString())
        month = next
      }
      expect([name, months, wrong]).toEqual([name, 36, []])
    }
  } finally {
    process.env['TZ'] = zone ?? 'UTC'
  }
})
