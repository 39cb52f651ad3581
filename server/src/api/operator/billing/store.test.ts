import { afterAll, beforeAll, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { createInstallationUsageStore } from './store'
import { openTestDatabase } from '../../../../testing/db/database'
import { createCustomer } from '../../../../testing/ledger/customer'
import type { Database } from '../../../platform/db/database'

const dayMs = 86_400_000
const today = Math.floor(Date.now() / dayMs) * dayMs
const [start, end] = [new Date(today - 10 * dayMs), new Date(today - 8 * dayMs)]
const stack = new AsyncDisposableStack()
let database: Database
let grown: string
let shrunk: string

interface Sum {
  userId: string
  daysAgo: number
  model?: string
  requests: number
  failures?: number
  cost: number
}

/** Adds the hour of noon of a day to the sums: half of its cost is the provider's, and one request has none. */
const addRequests = ({ userId, daysAgo, model = 'fake/one', requests, failures = 0, cost }: Sum) =>
  sql`
  insert into request_sum (grain, starts_at, user_id, key_id, model, requests, successes, failures,
    cancellations, input_tokens, output_tokens, latency_ms, cost, own_cost, peak_concurrent, revenue,
    provider_cost, uncosted)
  values ('hour', ${new Date(today - (daysAgo - 0.5) * dayMs)}, ${userId}, 'key', ${model}, ${requests},
    ${requests - failures - 1}, ${failures}, 1, 7, 3, 200, ${cost}, 0, 1, ${cost}, ${Math.floor(cost / 2)}, 1)`.execute(
    database.query,
  )

beforeAll(async () => {
  database = await openTestDatabase(stack)
  grown = await createCustomer(database)
  shrunk = await createCustomer(database)
  await addRequests({ userId: grown, daysAgo: 10, requests: 5, failures: 1, cost: 4_000_000_000 })
  await addRequests({ userId: grown, daysAgo: 9, model: '', requests: 2, failures: 1, cost: 0 })
  await addRequests({ userId: grown, daysAgo: 12, requests: 2, cost: 1_000_000_000 })
  await addRequests({ userId: shrunk, daysAgo: 9, requests: 3, cost: 5_000_000_000 })
  await addRequests({ userId: shrunk, daysAgo: 11, requests: 9, cost: 6_000_000_000 })
  // Outside of both periods.
  await addRequests({ userId: 'user_gone', daysAgo: 13, requests: 50, cost: 9 })
  await addRequests({ userId: 'user_gone', daysAgo: 8, requests: 50, cost: 9 })
})
afterAll(() => stack.disposeAsync())

const read = () =>
  createInstallationUsageStore(database.query).read({
    start_date: start.toISOString(),
    end_date: end.toISOString(),
  })

test('the usage of all accounts is that of the period, beside the one before', async () => {
  const { period, summary, by_model: models } = await read()
  expect(period).toEqual({ start: start.toISOString(), end: end.toISOString() })
  expect(summary).toEqual({
    requests: 10,
    failed_requests: 2,
    input_tokens: 21,
    output_tokens: 9,
    cost: 9,
    revenue: 9,
    provider_cost: 4.5,
    margin: 4.5,
    uncosted_requests: 3,
    cancelled_requests: 3,
    success_rate: 71.43,
    avg_latency_ms: 120,
    active_accounts: 2,
    previous_requests: 11,
    previous_cost: 7,
  })
  expect(models).toMatchObject([{ model: 'fake/one', requests: 8, failed_requests: 1, cost: 9 }])
})

test('days without requests are in the time series, whose sums are the total', async () => {
  const { summary, time_series: series } = await read()
  expect(series.map(({ timestamp, cost }) => [timestamp, cost])).toEqual([
    [start.toISOString(), 4],
    [new Date(today - 9 * dayMs).toISOString(), 5],
  ])
  const total = series.reduce((sum, { requests }) => sum + requests, 0)
  expect(total).toBe(summary.requests)
})

test('accounts are listed by their cost, with that of the period before', async () => {
  const { by_account: accounts } = await read()
  expect(
    accounts.map(({ user_id, email, cost, previous_cost }) => ({
      user_id,
      email,
      cost,
      previous_cost,
    })),
  ).toEqual([
    { user_id: shrunk, email: `${shrunk}@example.com`, cost: 5, previous_cost: 6 },
    { user_id: grown, email: `${grown}@example.com`, cost: 4, previous_cost: 1 },
  ])
})

test('an account whose cost grew the most is listed below ten that cost more', async () => {
  const rich = Array.from({ length: 11 }, (_, index) => `user_rich_${index}`)
  for (const userId of rich) {
    await addRequests({ userId, daysAgo: 12, requests: 1, cost: 70_000_000_000 })
    await addRequests({ userId, daysAgo: 10, requests: 1, cost: 70_000_000_000 })
  }
  const { by_account: accounts } = await read()
  expect(accounts).toHaveLength(11)
  expect(accounts.map(({ user_id: id }) => id)).toContain(grown)
  expect(accounts.map(({ user_id: id }) => id)).not.toContain(shrunk)
})

test('providers have the calls, failures and cost of their attempts, payers their amounts', async () => {
  const noon = new Date(today - 9.5 * dayMs)
  const rows = [
    { model: 'fake/one', account: 'user_1', user: 'user_1', cost: 10, writtenOff: 4, paid: 0 },
    { model: 'fake/two', account: 'org_1', user: 'user_1', cost: 30, writtenOff: 0, paid: 0 },
    { model: 'other/one', account: 'user_2', user: 'user_2', cost: 0, writtenOff: 0, paid: 5 },
  ]
  for (const { model, account, user, cost, writtenOff, paid } of rows) {
    await sql`
      insert into usage_sum (grain, starts_at, account_id, user_id, key_id, model, requests, failures,
        cancellations, input_tokens, cached_input_tokens, cache_write_tokens, output_tokens,
        reasoning_tokens, audio_input_tokens, audio_output_tokens, duration_ms, cost, written_off,
        house_paid)
      values ('hour', ${noon}, ${account}, ${user}, 'key', ${model}, 4, 1, 1, 1, 0, 0, 1, 0, 0, 0, 50,
        ${cost * 1e9}, ${writtenOff * 1e9}, ${paid * 1e9})`.execute(database.query)
  }
  const { by_payer: payers, by_provider: providers } = await read()
  expect(payers).toEqual({ personal: 6, organization: 30, operator: 5, written_off: 4 })
  const other = { failed_calls: 1, failure_rate: 33.33, avg_latency_ms: 12.5 }
  // Of the requests of the tests before.
  const margin = { revenue: 779, provider_cost: 389.5, margin: 389.5, uncosted_requests: 13 }
  const none = { revenue: 0, provider_cost: 0, margin: 0, uncosted_requests: 0 }
  expect(providers).toEqual([
    { ...other, ...margin, provider: 'fake', calls: 8, failed_calls: 2, cost: 36 },
    { ...other, ...none, provider: 'other', calls: 4, cost: 5 },
  ])
})
