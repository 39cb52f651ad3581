import { afterAll, beforeAll, expect, test } from 'bun:test'
import { copyLogs } from './copy-logs'
import { insertLogs } from './insert-logs'
import { toLogRecord, type LogValues } from './log-record'
import { maxTagSets, otherTags } from './tag-sums'
import { valuesForTests } from '../../testing/request-logs/values'
import { openTestDatabase } from '../../testing/db/database'
import type { Database } from '../platform/db/database'
import { generateIdBody, newId } from '../platform/db/id'

const stack = new AsyncDisposableStack()
let database: Database

beforeAll(async () => {
  database = await openTestDatabase(stack)
})
afterAll(() => stack.disposeAsync())

const idAt = (time: string) => `req_${generateIdBody(Date.parse(time))}`
const recordOf = (fields: Partial<LogValues>) => toLogRecord(valuesForTests(fields))

const sumsOf = (userId: string, grain: 'hour' | 'day') =>
  database.query
    .selectFrom('request_tag_sum')
    .selectAll()
    .where('user_id', '=', userId)
    .where('grain', '=', grain)
    .orderBy('starts_at')
    .orderBy('tags')
    .execute()

test('logs with tags are summed by hour, day and set of tags, once however often they arrive', async () => {
  const userId = newId('user')
  const at = (time: string, fields: Partial<LogValues>) =>
    recordOf({ userId, id: idAt(`2026-02-03T${time}Z`), ...fields })
  const records = [
    at('04:05:06', { tags: ['a'], accountId: userId }),
    at('04:59:06', { tags: ['a'], accountId: 'org_1' }),
    at('05:05:06', { tags: ['a', 'b c'], status: 'error', cost: 0n }),
    at('05:05:06', { tags: null }),
  ]
  await insertLogs(database.query, records.slice(0, 1))
  await insertLogs(database.query, records)
  await insertLogs(database.query, records)
  const first = { tags: ['a'], requests: 2n, successes: 2n, cost: 2000n, latency_ms: 200n }
  expect(await sumsOf(userId, 'hour')).toMatchObject([
    { ...first, input_tokens: 20n, output_tokens: 10n },
    { tags: ['a', 'b c'], requests: 1n, successes: 0n, failures: 1n, cost: 0n },
  ])
  expect(await sumsOf(userId, 'day')).toMatchObject([
    first,
    { tags: ['a', 'b c'], requests: 1n, failures: 1n },
  ])
})

test('logs without tags are in no sum by tags', async () => {
  const userId = newId('user')
  await insertLogs(database.query, [recordOf({ userId, userAgent: 'looks like {tags}' })])
  await database.query
    .transaction()
    .execute((trx) => copyLogs(trx, [{ text: recordOf({ userId }) }]))
  expect(await sumsOf(userId, 'day')).toEqual([])
})

test('sets of tags beyond those that an account may have on a day are summed as one', async () => {
  const [userId, other] = [newId('user'), newId('user')]
  const many = Array.from({ length: maxTagSets + 7 }, (_, at) => [`tag ${at}`])
  const batch = (day: string, sets: readonly string[][], of = userId) =>
    sets.map((tags) => recordOf({ userId: of, id: idAt(`${day} 12:00Z`), tags }))
  const copy = (records: string[]) =>
    database.query.transaction().execute((trx) =>
      copyLogs(
        trx,
        records.map((text) => ({ text })),
      ),
    )
  await copy(batch('2026-02-03', many.slice(0, 300)))
  await copy(batch('2026-02-03', many))
  await insertLogs(database.query, batch('2026-02-03', [...many.slice(0, 2), ['new']]))
  await copy(batch('2026-02-04', [['new']]))
  await copy(batch('2026-02-03', [['new']], other))
  const days = await sumsOf(userId, 'day')
  const of = (tag: string) =>
    days.filter(({ tags }) => tags[0] === tag).map(({ requests }) => requests)
  expect(of(otherTags)).toEqual([8n])
  expect(of('tag 0')).toEqual([3n])
  expect(of('new')).toEqual([1n])
  expect(days).toHaveLength(maxTagSets + 2)
  expect(await sumsOf(other, 'day')).toMatchObject([{ tags: ['new'], requests: 1n }])
})
