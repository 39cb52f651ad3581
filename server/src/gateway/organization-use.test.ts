import { expect, test } from 'bun:test'
import { OrganizationUse } from './organization-use'
import type { MemberTerms } from '../catalog/member-terms'
import { sampleShared } from '../../testing/catalog/samples'
import { memberIn } from '../metering/spending-limits'
import { event, createFixture } from '../../testing/metering/months'
import type { Counters, CounterTake } from '../limits/counters'
import { RateLimits } from '../limits/limits'
import { toImageNeed, type MediaNeed } from '../limits/media-need'
import { MemoryCounters } from '../limits/memory-counters'

const termsOf = (fields: Partial<MemberTerms> = {}): MemberTerms => ({
  organizationId: 'org_1',
  department: null,
  ...sampleShared(new Map()).limits,
  ...fields,
})

/** Requests of `user_1`, of 10 tokens each, whose organizations count in one place. */
function world(counters: Counters = new MemoryCounters(() => 0)) {
  const on = createFixture()
  const limits = new RateLimits(counters)
  const ports = { limits, spendingLimits: on.months }
  const use = (tokens = 10, media?: MediaNeed) =>
    new OrganizationUse({ ports, userId: 'user_1', tokens, media })
  return { ...on, use, on }
}

test('a request counts once in an organization, for any number of concurrently opened candidates', async () => {
  const { use } = world()
  const terms = termsOf({ requestsPerMinute: 2, maxConcurrentRequests: 2 })
  const request = use()
  await Promise.all([request.admit(terms), request.admit(terms), request.admit(terms)])
  const next = use()
  await next.admit(terms)
  request.end(0, null)
  next.end(0, null)
  await expect(use().admit(terms)).rejects.toMatchObject({ code: 'rate_limit_exceeded' })
})

test('organizations count separately, and repeat their own rejections', async () => {
  const { use } = world()
  const request = use()
  const full = termsOf({ tokensPerMinute: 5 })
  const refused = { code: 'tokens_per_minute_exceeded', details: { limit: 5, used: 0 } }
  await expect(request.admit(full)).rejects.toMatchObject(refused)
  await expect(request.admit(full)).rejects.toMatchObject(refused)
  await request.admit(termsOf({ organizationId: 'org_2' }))
})

test('a request rejected for its tokens holds no slot, and no usage of the month', async () => {
  const { use } = world()
  const terms = termsOf({ maxConcurrentRequests: 1, monthlyRequests: 1, tokensPerMinute: 50 })
  for (let count = 0; count < 3; count++) {
    const refused = use(51).admit(terms)
    await expect(refused).rejects.toMatchObject({ code: 'tokens_per_minute_exceeded' })
  }
  await use().admit(terms)
})

test('tokens become the used ones if the organization served, and zero if another did', async () => {
  const { use } = world()
  const terms = termsOf({ tokensPerMinute: 30 })
  const served = use()
  await served.admit(terms)
  served.end(25, 'org_1')
  await expect(use().admit(terms)).rejects.toMatchObject({ details: { limit: 30, used: 25 } })
  const elsewhere = use(5)
  await elsewhere.admit(terms)
  elsewhere.end(25, null)
  await use(5).admit(terms)
})

test('images become the made ones if the organization served, and zero if another did', async () => {
  const { use } = world()
  const terms = termsOf({ imagesPerMinute: 5, maxConcurrentRequests: 1 })
  const served = use(0, toImageNeed(4))
  await served.admit(terms)
  served.end(0, 'org_1', { madeImages: 3 })
  const details = { limit: 5, used: 3 }
  const refused = { code: 'images_per_minute_exceeded', details }
  await expect(use(0, toImageNeed(3)).admit(terms)).rejects.toMatchObject(refused)
  const elsewhere = use(0, toImageNeed(2))
  await elsewhere.admit(terms)
  elsewhere.end(0, null, { madeImages: 2 })
  await use(0, toImageNeed(2)).admit(terms)
})

test('a client that disconnects frees its slot at once, and the remaining hold in the end, once', async () => {
  const { use } = world()
  const terms = termsOf({ maxConcurrentRequests: 1 })
  const left = use()
  await left.admit(terms)
  left.releaseSlots()
  const next = use()
  await next.admit(terms)
  left.end(0, 'org_1')
  left.end(0, 'org_1')
  await expect(use().admit(terms)).rejects.toMatchObject({ details: { limit: 1, window: 0 } })
  next.end(0, 'org_1')
  await use().admit(terms)
})

test('a request that ends while it is counted leaves no state', async () => {
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
  const entering = request.admit(terms)
  request.end(0, null)
  resolve()
  await entering
  await use().admit(terms)
})

test('3.1: the member’s limit and the organization’s both apply to the organization’s payments', async () => {
  const { use, months, on } = world()
  const terms = termsOf({ monthlySpend: 100n, memberSpend: 60n })
  const request = use()
  await request.admit(terms)
  expect(request.spendingOf('org_1')?.remaining).toBe(60n)
  request.spendingOf('org_1')?.hold(50n)
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
  await next.admit(terms)
  expect(next.spendingOf('org_1')?.remaining).toBe(5n)
  const alone = use()
  const other = termsOf({ memberSpend: 60n })
  await alone.admit(other)
  expect(alone.spendingOf('org_1')?.remaining).toBe(20n)
  expect(memberIn('org_1', 'user_1')).toBe('org_1 user_1')
})
