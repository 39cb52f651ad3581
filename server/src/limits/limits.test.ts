import { describe, expect, test } from 'bun:test'
import { RateLimits } from './limits'
import { MemoryCounters } from './memory-counters'
import { type Principal } from '../auth/principal'
import { combineLimits, type LimitScope } from './caller-limits'
import { ApiError } from '../errors'

const scope = (fields: Partial<LimitScope>): LimitScope => ({
  id: 'user_1',
  requestsPerMinute: null,
  tokensPerMinute: null,
  imagesPerMinute: null,
  audioSecondsPerMinute: null,
  maxConcurrentRequests: null,
  monthlyRequests: null,
  monthlySpend: null,
  ...fields,
})

const principal = (...scopes: Partial<LimitScope>[]): Principal => ({
  keyId: 'key_1',
  keyPrefix: 'sk-tg-AAAAAA',
  logBodies: false,
  disabledUntilMs: null,
  accessLists: null,
  userId: 'user_1',
  accountId: 'user_1',
  permissions: ['write'],
  expiresAtMs: null,
  endsAtMs: null,
  limits: combineLimits(scopes.map(scope)),
})

function createFixture() {
  const clock = { ms: 0 }
  const counters = new MemoryCounters(() => clock.ms)
  return { clock, counters, limits: new RateLimits(counters) }
}

async function refusal(pending: Promise<unknown>): Promise<ApiError> {
  try {
    await pending
  } catch (thrown) {
    if (thrown instanceof ApiError) return thrown
    throw thrown
  }
  throw new Error('it was not refused')
}

describe('requests', () => {
  test('R09: reports the remaining requests and their reset, up to the edge of the window', async () => {
    const { clock, limits } = createFixture()
    const caller = principal({ requestsPerMinute: 3 })
    for (const left of [2, 1, 0]) {
      expect(await limits.count(caller.limits.requests)).toMatchObject({
        limit: 3,
        remaining: left,
      })
      clock.ms += 1000
    }
    clock.ms = 59_999
    const beforeMs = Date.now()
    const early = await refusal(limits.count(caller.limits.requests))
    expect(early).toMatchObject({
      code: 'rate_limit_exceeded',
      details: { limit: 3, window: 60, retry_after: 1 },
      retryAfterSeconds: 0.001,
      retryable: true,
      quota: { limit: 3, remaining: 0 },
    })
    // A millisecond later, by the clock of its callers.
    expect(early.quota?.resetAtMs).toBeWithin(beforeMs, Date.now() + 2)
    clock.ms = 60_000
    expect(await limits.count(caller.limits.requests)).toMatchObject({ limit: 3, remaining: 0 })
    expect((await refusal(limits.count(caller.limits.requests))).retryAfterSeconds).toBe(1)
  })

  test('count for a key and its account, and the tighter limit is reported', async () => {
    const { limits } = createFixture()
    const account = { id: 'user_1', requestsPerMinute: 3 }
    const one = principal(account, { id: 'key_1', requestsPerMinute: 2 })
    const other = principal(account, { id: 'key_2', requestsPerMinute: 2 })
    expect(await limits.count(one.limits.requests)).toMatchObject({ limit: 2, remaining: 1 })
    expect(await limits.count(one.limits.requests)).toMatchObject({ limit: 2, remaining: 0 })
    expect(await limits.count(other.limits.requests)).toMatchObject({ limit: 3, remaining: 0 })
    expect((await refusal(limits.count(other.limits.requests))).details).toMatchObject({ limit: 3 })
  })

  test('count in no limit if one rejects them', async () => {
    const { clock, limits } = createFixture()
    const account = { id: 'user_1', requestsPerMinute: 5 }
    const one = principal(account, { id: 'key_1', requestsPerMinute: 1 })
    await limits.count(one.limits.requests)
    clock.ms = 20_000
    for (let tries = 0; tries < 10; tries++) await refusal(limits.count(one.limits.requests))
    expect(await limits.readQuota(principal(account).limits.requests)).toMatchObject({
      remaining: 4,
    })
  })

  test('report the limit with the longest wait if several reject', async () => {
    const { clock, limits } = createFixture()
    await limits.count(principal({ id: 'user_1', requestsPerMinute: 1 }).limits.requests)
    clock.ms = 30_000
    await limits.count(principal({ id: 'key_1', requestsPerMinute: 1 }).limits.requests)
    const both = principal(
      { id: 'user_1', requestsPerMinute: 1 },
      { id: 'key_1', requestsPerMinute: 1 },
    )
    expect((await refusal(limits.count(both.limits.requests))).retryAfterSeconds).toBe(60)
  })

  test('report no quota without a limit', async () => {
    const { limits, counters } = createFixture()
    expect(await limits.count(principal({}).limits.requests)).toBeUndefined()
    expect((await limits.admit(principal({}))).quota).toBeUndefined()
    expect(counters.size).toBe(0)
  })
})

describe('requests at once', () => {
  const caller = principal({ requestsPerMinute: 10, maxConcurrentRequests: 2 })

  test('rejects one request too many, without counting it', async () => {
    const { limits } = createFixture()
    const first = await limits.admit(caller)
    await limits.admit(caller)
    const refused = await refusal(Promise.try(() => limits.admit(caller)))
    expect(refused).toMatchObject({
      code: 'rate_limit_exceeded',
      details: { limit: 2, window: 0, retry_after: 1 },
      quota: { limit: 2, remaining: 0 },
    })
    expect(await limits.readQuota(caller.limits.requests)).toMatchObject({ remaining: 8 })
    first.release()
    await limits.admit(caller)
  })

  test('releases a slot once, for any number of calls', async () => {
    const { limits } = createFixture()
    const first = await limits.admit(caller)
    await limits.admit(caller)
    first.release()
    first.release()
    await limits.admit(caller)
    await refusal(Promise.try(() => limits.admit(caller)))
  })
})

describe('R08: tokens', () => {
  const caller = principal({ tokensPerMinute: 10_000 })
  const used = async (limits: RateLimits) => {
    const probe = await limits.admit(caller)
    return (await refusal(Promise.try(() => probe.reserve(10_001)))).details['used']
  }

  test.each([100, 4000, 40_000])('4,000 are reserved, %d are counted in the end', async (real) => {
    const { limits } = createFixture()
    const admission = await limits.admit(caller)
    await admission.reserve(4000)
    expect(await used(limits)).toBe(4000)
    admission.trueUp(real)
    admission.release()
    admission.release()
    expect(await used(limits)).toBe(real)
  })

  test('a request without an answer has used none', async () => {
    const { limits } = createFixture()
    const admission = await limits.admit(caller)
    await admission.reserve(4000)
    admission.release()
    expect(await used(limits)).toBe(0)
  })

  test('R09: a request that waits for Retry-After is admitted', async () => {
    const { clock, limits } = createFixture()
    const first = await limits.admit(caller)
    await first.reserve(8000)
    clock.ms = 10_000
    const second = await limits.admit(caller)
    expect(await refusal(Promise.try(() => second.reserve(4000)))).toMatchObject({
      code: 'tokens_per_minute_exceeded',
      details: { limit: 10_000, used: 8000 },
      retryAfterSeconds: 50,
      retryable: true,
      quota: { limit: 10_000, remaining: 2000 },
    })
    clock.ms = 59_999
    await refusal(Promise.try(() => second.reserve(4000)))
    clock.ms = 60_000
    await second.reserve(4000)
  })

  test('rejects a request larger than the limit as not retryable', async () => {
    const { limits } = createFixture()
    const admission = await limits.admit(caller)
    expect(await refusal(Promise.try(() => admission.reserve(10_001)))).toMatchObject({
      code: 'tokens_per_minute_exceeded',
      details: { limit: 10_000, used: 0 },
      retryable: false,
    })
  })

  test('counts usage beyond the reservation from the end of the answer on', async () => {
    const { clock, limits } = createFixture()
    const admission = await limits.admit(caller)
    await admission.reserve(1000)
    clock.ms = 90_000
    admission.trueUp(9000)
    admission.release()
    expect(await used(limits)).toBe(8000)
  })
})

test('reports the use of each limit without counting', async () => {
  const { clock, counters, limits } = createFixture()
  const caller = principal({
    requestsPerMinute: 5,
    tokensPerMinute: 1000,
    maxConcurrentRequests: 3,
  })
  const { requests, tokens, running } = caller.limits
  const at = { windows: [...requests, ...tokens], running }
  expect(await limits.readUse(at)).toEqual(
    Array.from({ length: 3 }, () => ({ used: 0, resetMs: 0 })),
  )
  expect(counters.size).toBe(0)
  const admission = await limits.admit(caller)
  await admission.reserve(400)
  clock.ms = 10_000
  expect(await limits.readUse(at)).toEqual([
    { used: 1, resetMs: 50_000 },
    { used: 400, resetMs: 50_000 },
    { used: 1, resetMs: 0 },
  ])
  admission.trueUp(30)
  admission.release()
  expect((await limits.readUse(at)).map(({ used }) => used)).toEqual([1, 30, 0])
  clock.ms = 60_000
  expect((await limits.readUse(at)).map(({ used }) => used)).toEqual([0, 0, 0])
})

test('evicts idle accounts', async () => {
  const { clock, limits, counters } = createFixture()
  for (let number = 0; number < 1000; number++) {
    const id = `user_${number}`
    const caller = principal({ id, requestsPerMinute: 5, maxConcurrentRequests: 5 })
    const admission = await limits.admit(caller)
    admission.release()
  }
  expect(counters.size).toBe(1000)
  clock.ms += 120_001
  await limits.count(principal({ id: 'user_x', requestsPerMinute: 5 }).limits.requests)
  expect(counters.size).toBe(1)
})
