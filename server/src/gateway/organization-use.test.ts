import { expect, test } from 'bun:test'
import { OrganizationUse } from './organization-use'
import type { MemberTerms } from '../catalog/account-catalog'
import { sampleShared } from '../../testing/catalog/samples'
import { memberIn } from '../metering/spending-limits'
import { event, createFixture } from '../../testing/metering/months'
import type { Counters, CounterTake } from '../limits/counters'
import { RateLimits } from '../limits/limits'
import { MemoryCounters } from '../limits/memory-counters'

const termsOf = (fields: Partial<MemberTerms> = {}): MemberTerms => ({
  organizationId: 'org_1',
  ...sampleShared(new Map()).limits,
  ...fields,
})

/** Requests of `user_1`, of 10 tokens each, whose organizations count in one place. */
function world(counters: Counters = new MemoryCounters(() => 0)) {
  const on = createFixture()
  const limits = new RateLimits(counters)
  const use = (tokens = 10) =>
    new OrganizationUse({ ports: { limits, spendingLimits: on.months }, userId: 'user_1', tokens })
  return { ...on, use, on }
}

test('a request counts once in an organization, however many of its candidates are opened at once', async () => {
  const { use } = world()
  const terms = termsOf({ requestsPerMinute: 2, maxConcurrentRequests: 2 })
  const request = use()
  await Promise.all([request.enter(terms), request.enter(terms), request.enter(terms)])
  const next = use()
  await next.enter(terms)
  request.end(0, null)
  next.end(0, null)
  await expect(use().enter(terms)).rejects.toMatchObject({ code: 'rate_limit_exceeded' })
})

test('organizations count apart, and what one refuses it refuses again', async () => {
  const { use } = world()
  const request = use()
  const full = termsOf({ tokensPerMinute: 5 })
  const refused = { code: 'tokens_per_minute_exceeded', details: { limit: 5, used: 0 } }
  await expect(request.enter(full)).rejects.toMatchObject(refused)
  await expect(request.enter(full)).rejects.toMatchObject(refused)
  await request.enter(termsOf({ organizationId: 'org_2' }))
})

test('one that is refused for its tokens holds no place, and nothing of the month', async () => {
  const { use } = world()
  const terms = termsOf({ maxConcurrentRequests: 1, monthlyRequests: 1, tokensPerMinute: 50 })
  for (let count = 0; count < 3; count++) {
    const refused = use(51).enter(terms)
    await expect(refused).rejects.toMatchObject({ code: 'tokens_per_minute_exceeded' })
  }
  await use().enter(terms)
})

test('tokens become what was used where it served, and nothing where another did', async () => {
  const { use } = world()
  const terms = termsOf({ tokensPerMinute: 30 })
  const served = use()
  await served.enter(terms)
  served.end(25, 'org_1')
  await expect(use().enter(terms)).rejects.toMatchObject({ details: { limit: 30, used: 25 } })
  const elsewhere = use(5)
  await elsewhere.enter(terms)
  elsewhere.end(25, null)
  await use(5).enter(terms)
})

test('who leaves gives back his place at once, and all the rest in the end, once', async () => {
  const { use } = world()
  const terms = termsOf({ maxConcurrentRequests: 1 })
  const left = use()
  await left.enter(terms)
  left.releaseSlots()
  const next = use()
  await next.enter(terms)
  left.end(0, 'org_1')
  left.end(0, 'org_1')
  await expect(use().enter(terms)).rejects.toMatchObject({ details: { limit: 1, window: 0 } })
  next.end(0, 'org_1')
  await use().enter(terms)
})

test('one that ends while it is counted leaves nothing behind', async () => {
  const memory = new MemoryCounters(() => 0)
  const { promise, resolve } = Promise.withResolvers<void>()
  const slow: Counters = {
    take: async (demand): Promise<CounterTake> => {
      await promise
      return memory.take(demand)
    },
    readUse: (at) => memory.readUse(at),
  }
  const { use } = world(slow)
  const terms = termsOf({ maxConcurrentRequests: 1, tokensPerMinute: 10, monthlyRequests: 1 })
  const request = use()
  const entering = request.enter(terms)
  request.end(0, null)
  resolve()
  await entering
  await use().enter(terms)
})

test('3.1: the member’s limit and the organization’s both hold, of what the organization pays', async () => {
  const { use, months, on } = world()
  const terms = termsOf({ monthlySpend: 100n, memberSpend: 60n })
  const request = use()
  await request.enter(terms)
  expect(request.monthOf('org_1')?.remaining).toBe(60n)
  request.monthOf('org_1')?.hold(50n)
  expect(months.size).toBe(2)
  request.end(8, 'org_1')
  const served = { organizationId: 'org_1', accountId: 'org_1' }
  // Of who pays his provider himself the price counts, else what was charged.
  months.note(event(on, { ...served, billingMode: 'org_pays', cost: 0n, price: 30n }))
  months.note(event(on, { ...served, cost: 10n }))
  months.note(event(on, { ...served, accountId: 'user_1', billingMode: 'member_pays', cost: 999n }))
  // Another member's.
  months.note(event(on, { ...served, userId: 'user_2', cost: 55n }))
  const next = use()
  await next.enter(terms)
  expect(next.monthOf('org_1')?.remaining).toBe(5n)
  const alone = use()
  const other = termsOf({ memberSpend: 60n })
  await alone.enter(other)
  expect(alone.monthOf('org_1')?.remaining).toBe(20n)
  expect(memberIn('org_1', 'user_1')).toBe('org_1 user_1')
})
