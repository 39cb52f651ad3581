import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readBreakdown, toAccountFigures } from './breakdown'
import type { BreakdownFilter } from './breakdown-schema'
import { sourceOf } from './sum-source'
import { withTags } from './tag-source'
import * as fc from '../../../../testing/property'
import { openTestDatabase } from '../../../../testing/db/database'
import { valuesForTests } from '../../../../testing/request-logs/values'
import type { Database } from '../../../platform/db/database'
import { generateIdBody, newId } from '../../../platform/db/id'
import { copyLogs } from '../../../request-logs/copy-logs'
import type { LogValues } from '../../../request-logs/log-record'
import { toLoggedRequest } from '../../../request-logs/logged-request'

const stack = new AsyncDisposableStack()
let database: Database

beforeAll(async () => {
  database = await openTestDatabase(stack)
})
afterAll(() => stack.disposeAsync())

const november: BreakdownFilter = {
  start_date: '2026-11-01',
  end_date: '2026-11-30',
  time_zone: 'UTC',
  group_by: 'tag',
  limit: 100,
}

const read = (userId: string, fields: Partial<BreakdownFilter> = {}) => {
  const filter = { ...november, ...fields }
  const source = withTags({ ...sourceOf({ id: userId, organizationId: null }) }, filter)
  const readable = { ...source, toFigures: toAccountFigures }
  const nowMs = Date.parse('2026-11-30T12:00:00Z')
  return readBreakdown(database.query, readable, { filter, nowMs })
}

const book = (userId: string, logs: readonly Partial<LogValues>[]) =>
  database.query.transaction().execute((trx) =>
    copyLogs(
      trx,
      logs.map((log) => toLoggedRequest(valuesForTests({ userId, ...log }))),
    ),
  )

const idAt = (hour: number) => `req_${generateIdBody(hour * 3_600_000)}`
const firstHour = Date.parse('2026-11-01') / 3_600_000
const secondDayId = () => idAt(firstHour + 30)

test('a request is in the group of all of its tags, and one without tags in that without an ID', async () => {
  const userId = newId('user')
  await book(userId, [
    { id: secondDayId(), tags: ['a'], cost: 4_000_000_000n },
    { id: secondDayId(), tags: ['a', 'b'], cost: 3_000_000_000n },
    { id: secondDayId(), tags: ['b'], cost: 2_000_000_000n, keyId: 'key_2' },
    { id: secondDayId(), cost: 1_000_000_000n },
  ])
  const groupsOf = async (filter: Partial<BreakdownFilter>) => {
    const { groups } = await read(userId, filter)
    return groups.map(({ group, usage_cost: cost }) => [group.id, cost])
  }
  expect(await groupsOf({})).toEqual([
    ['a', 4],
    ['a, b', 3],
    ['b', 2],
    ['', 1],
  ])
  expect(await groupsOf({ tag: 'b' })).toEqual([
    ['a, b', 3],
    ['b', 2],
  ])
  expect(await groupsOf({ tag: 'b, a' })).toEqual([['a, b', 3]])
  expect(await groupsOf({ tag: 'b', group_by: 'key' })).toEqual([
    ['key_1', 3],
    ['key_2', 2],
  ])
  expect(await groupsOf({ tag: 'B' })).toEqual([])
})

test('an account whose requests all have tags has no group without', async () => {
  const userId = newId('user')
  await book(userId, [{ id: idAt(firstHour), tags: ['a'] }])
  const { groups, time_series: series } = await read(userId, { granularity: 'day' })
  expect(groups.map(({ group }) => group.id)).toEqual(['a'])
  expect(series).toHaveLength(1)
})

const nanos = (cost: number) => Math.round(cost * 1e9)

test('the sums of groups by tags, and of intervals, are those of all requests', async () => {
  const log = fc.record({
    hour: fc.integer({ min: 0, max: 30 * 24 - 1 }),
    tags: fc.constantFrom<string[] | null>(null, ['a'], ['a', 'b'], ['b'], ['c d']),
    model: fc.constantFrom('fake/one', 'fake/two'),
    keyId: fc.constantFrom('key_1', 'key_2'),
    status: fc.constantFrom('success', 'error', 'cancelled'),
    cost: fc.bigInt({ min: 0n, max: 10n ** 12n }),
  })
  const filters = fc.record({
    split_by: fc.constantFrom(undefined, 'key', 'model'),
    granularity: fc.constantFrom('hour', 'day', 'week'),
    limit: fc.integer({ min: 1, max: 5 }),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(log, { maxLength: 30 }), filters, async (logs, fields) => {
      const userId = newId('user')
      const booked = logs.map(({ hour, ...log }) => ({ ...log, id: idAt(firstHour + hour) }))
      await book(userId, booked)
      const { total, groups, other, time_series: series } = await read(userId, fields)
      const { total: all } = await read(userId, { group_by: 'model' })
      expect(total).toEqual(all)
      expect(total.requests).toBe(logs.length)
      expect(nanos(total.usage_cost)).toBe(Number(logs.reduce((sum, { cost }) => sum + cost, 0n)))
      for (const parts of [other ? [...groups, other] : groups, series]) {
        expect(parts.reduce((sum, { requests }) => sum + requests, 0)).toBe(total.requests)
        expect(parts.reduce((sum, part) => sum + nanos(part.usage_cost), 0)).toBe(
          nanos(total.usage_cost),
        )
      }
      // Exactly those whose tags have it all.
      const { total: tagged } = await read(userId, { group_by: 'model', tag: 'a' })
      expect(tagged.requests).toBe(logs.filter(({ tags }) => tags?.includes('a')).length)
    }),
    { numRuns: 25 },
  )
})
