import { afterAll, beforeAll, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { createInstallationUsageStore } from './store'
import * as fc from '../../../../testing/property'
import { openTestDatabase } from '../../../../testing/db/database'
import { valuesForTests } from '../../../../testing/request-logs/values'
import { generateIdBody, newId } from '../../../platform/db/id'
import type { Database } from '../../../platform/db/database'
import { copyLogs } from '../../../request-logs/copy-logs'
import { insertLogs } from '../../../request-logs/insert-logs'
import { toLogRecord, type LogValues } from '../../../request-logs/log-record'
import { toLoggedRequest } from '../../../request-logs/logged-request'

const stack = new AsyncDisposableStack()
let database: Database

beforeAll(async () => {
  database = await openTestDatabase(stack)
})
afterAll(() => stack.disposeAsync())

const firstMs = Date.parse('2026-11-01')
const hourMs = 3_600_000
const november = {
  start_date: '2026-11-01',
  end_date: '2026-11-30',
  time_zone: 'UTC',
  limit: 100,
} as const

const amounts = fc.bigInt({ min: 0n, max: 10n ** 12n })
const requests = fc.record({
  hour: fc.integer({ min: 0, max: 700 }),
  model: fc.constantFrom('one/a', 'one/b', 'two/a'),
  tags: fc.constantFrom(null, null, ['a'], ['a', 'b']),
  billingMode: fc.constantFrom('platform', 'house', 'byok', 'org_pays', 'member_pays', 'free'),
  cost: amounts,
  platformFee: fc.bigInt({ min: 0n, max: 10n ** 6n }),
  providerCost: fc.option(amounts),
  inputTokens: fc.integer({ min: 0, max: 2 }),
  outputTokens: fc.constant(0),
})

type Request = typeof requests extends fc.Arbitrary<infer Value> ? Value : never

async function book(userId: string, logs: readonly Request[]): Promise<void> {
  const values = logs.map(({ hour, ...log }): LogValues =>
    valuesForTests({ ...log, userId, id: `req_${generateIdBody(firstMs + hour * hourMs)}` }),
  )
  // Half of them by either statement.
  const half = Math.floor(values.length / 2)
  await insertLogs(database.query, values.slice(0, half).map(toLogRecord))
  const copied = values.slice(half).map(toLoggedRequest)
  await database.query.transaction().execute((trx) => copyLogs(trx, copied))
}

interface Amounts {
  revenue: bigint
  provider_cost: bigint
  uncosted: bigint
}

/** Sums the logs of an account by themselves. */
async function sumLogsOf(userId: string): Promise<Amounts> {
  const { rows } = await sql<Amounts>`
    select
      (coalesce(sum(cost) filter (where billing_mode not in ('house', 'member_pays')), 0)
        + coalesce(sum(platform_fee) filter (where billing_mode = 'member_pays'), 0))::bigint as revenue,
      coalesce(sum(provider_cost), 0)::bigint as provider_cost,
      count(*) filter (where provider_cost is null and input_tokens + cost > 0
        and billing_mode not in ('byok', 'org_pays', 'member_pays'))::bigint as uncosted
    from request_log where user_id = ${userId}`.execute(database.query)
  return rows[0] ?? { revenue: 0n, provider_cost: 0n, uncosted: 0n }
}

const nanos = (usd: number) => BigInt(Math.round(usd * 1e9))

test('the margin equals the kept charges less the costs of providers, in every sum, as in SQL', async () => {
  const usage = createInstallationUsageStore(database.query)
  const filters = fc.record({
    group_by: fc.constantFrom('model', 'provider', 'tag'),
    granularity: fc.constantFrom('hour', 'day', 'month'),
    limit: fc.integer({ min: 1, max: 5 }),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(requests, { maxLength: 30 }), filters, async (logs, filter) => {
      const userId = newId('user')
      await book(userId, logs)
      const found = await usage.breakdown({ ...november, ...filter, user_id: userId })
      const { total, groups, other, time_series: series } = found
      const { revenue, provider_cost: cost, uncosted } = await sumLogsOf(userId)
      expect(nanos(total.revenue)).toBe(revenue)
      expect(nanos(total.provider_cost)).toBe(cost)
      expect(nanos(total.margin)).toBe(revenue - cost)
      expect(total.uncosted_requests).toBe(Number(uncosted))
      for (const parts of [other ? [...groups, other] : groups, series]) {
        const margin = parts.reduce((sum, part) => sum + nanos(part.margin), 0n)
        expect(margin).toBe(revenue - cost)
      }
    }),
    { numRuns: 25 },
  )
})

test('tags do not change the margin of all requests', async () => {
  const usage = createInstallationUsageStore(database.query)
  const all = await usage.breakdown({ ...november, group_by: 'model' })
  const byTag = await usage.breakdown({ ...november, group_by: 'tag' })
  expect(byTag.total).toEqual(all.total)
})
