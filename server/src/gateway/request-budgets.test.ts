import { expect, test } from 'bun:test'
import { RequestBudgets } from './request-budgets'
import { ApiError } from '../errors'
import { combineLimits, toBudgetLimit, type WindowLimit } from '../limits/caller-limits'
import { caller, createFixture } from '../../testing/metering/months'
import type { UsageFilter } from '../platform/usage-filter'

const day = { unit: 'day', timeZone: 'UTC', firstWeekday: 1 } as const

const budget = (
  id: string,
  { filter, ...amount }: Partial<WindowLimit> & { filter?: Partial<UsageFilter> },
) =>
  toBudgetLimit({
    id,
    name: id,
    subjectId: 'user_1',
    requests: null,
    spend: null,
    rule: day,
    ...amount,
    ...(filter && { filter: { models: null, providers: null, tags: null, ...filter } }),
  })

/** The use of a request under budgets, and the limits by which it is counted. */
async function begin(budgets: readonly WindowLimit[], tags: readonly string[] | null = null) {
  const { months } = createFixture()
  const limits = combineLimits([], { limits: budgets, tags: [] })
  const budgeted = { userId: 'user_1', budgets: limits.filtered }
  const spending =
    limits.windows.length > 0 ? await months.admit(caller(...limits.windows)) : undefined
  const open = () =>
    new RequestBudgets({ spendingLimits: months, caller: budgeted, spending, tags })
  return { open, use: open() }
}

const refusalOf = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (thrown: unknown) => (thrown instanceof ApiError ? thrown.code : thrown),
  )

const one = { full: 10n, floor: 10n }

test('a request counts in the budgets of the model that it calls, and in those of the next one instead', async () => {
  const ofA = budget('a', { requests: 1, filter: { models: ['fake/a'] } })
  const ofB = budget('b', { requests: 1, filter: { models: ['fake/b'] } })
  const { open, use } = await begin([ofA, ofB])
  await use.admit('fake/a')
  const second = open()
  expect(await refusalOf(second.admit('fake/a'))).toBe('rate_limit_exceeded')
  await second.admit('fake/b')
  // It fails over to a model without a budget, which frees that of the first.
  await use.admit('fake/c')
  const third = open()
  expect(await refusalOf(third.admit('fake/b'))).toBe('rate_limit_exceeded')
  await third.admit('fake/a')
  second.end()
  await open().admit('fake/b')
})

test('money is taken of the budgets of all requests and of the model together, or of none', async () => {
  const all = budget('all', { spend: 100n })
  const ofA = budget('a', { spend: 15n, filter: { models: ['fake/a'] } })
  const { use } = await begin([all, ofA])
  await use.admit('fake/a')
  const spending = use.spendingFor(true)
  expect(await spending?.take(one)).toBe(10n)
  expect(await spending?.extend(one)).toMatchObject({ remaining: 5n, limit: ofA })
  expect(spending?.remaining).toBe(5n)
  await use.admit('fake/b')
  expect(use.spendingFor(true)?.remaining).toBe(100n)
  // What another party pays is none of the account's spending.
  expect(use.spendingFor(false)?.remaining).toBeUndefined()
})

test('a budget with tags counts requests that have all of them', async () => {
  const limits = [budget('batch', { tokens: 15n, filter: { tags: ['batch', 'x'] } })]
  const { use: tagged } = await begin(limits, ['batch', 'x'])
  await tagged.admit('fake/a')
  expect(await tagged.tokens?.take(one)).toBe(10n)
  expect(await tagged.tokens?.extend(one)).toMatchObject({ remaining: 5n })
  tagged.cancel()
  expect(tagged.tokens?.remaining).toBe(15n)
  const { use: other } = await begin(limits, ['batch'])
  await other.admit('fake/a')
  expect(other.tokens).toBeUndefined()
})
