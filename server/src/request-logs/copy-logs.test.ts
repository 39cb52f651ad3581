import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { sql } from 'kysely'
import * as fc from '../../testing/property'
import { openTestDatabase } from '../../testing/db/database'
import { copyLogs, readSummedLog } from './copy-logs'
import { insertLogs } from './insert-logs'
import { noCache, noMedia, toLogRecord, type LogValues } from './log-record'
import { toLoggedRequest, type LoggedRequest } from './logged-request'
import type { Database } from '../platform/db/database'
import { newId } from '../platform/db/id'
import { isUniqueViolation } from '../platform/db/violation'

const stack = new AsyncDisposableStack()
let copied: Database
let inserted: Database

beforeAll(async () => {
  copied = await openTestDatabase(stack)
  inserted = await openTestDatabase(stack)
})
afterAll(() => stack.disposeAsync())

const tables = [
  'request_log',
  'request_sum',
  'request_minute',
  'request_peak',
  'request_tag_sum',
  'request_tag_set',
] as const

/** Reads all rows of the tables as text: in no order of their own. */
async function readAll({ query }: Database): Promise<Record<string, string[]>> {
  const read = async (table: string): Promise<[string, string[]]> => {
    const { rows } = await sql<{ row: string }>`
      select t::text as row from ${sql.table(table)} as t order by 1`.execute(query)
    return [table, rows.map(({ row }) => row)]
  }
  return Object.fromEntries(await Promise.all(tables.map(read)))
}

const empty = async ({ query }: Database) => {
  for (const table of tables) await sql`delete from ${sql.table(table)}`.execute(query)
}

const users = [newId('user'), newId('user')] as const

const plain: LogValues = {
  id: newId('req'),
  userId: users[0],
  keyId: 'key_1',
  keyPrefix: 'tg_abc',
  endpoint: '/v1/chat/completions',
  streamed: false,
  requestedModel: 'fake/ok',
  model: 'fake/ok',
  provider: 'fake',
  status: 'success',
  statusCode: 200,
  error: null,
  finishReason: 'stop',
  latencyMs: 12,
  firstTokenMs: null,
  inputTokens: 3,
  outputTokens: 4,
  estimated: false,
  cost: 5n,
  platformFee: 0n,
  billingMode: 'platform',
  accountId: users[0],
  organizationId: null,
  connectionId: null,
  gatewayType: 2,
  concurrent: 1,
  callerUser: null,
  metadata: null,
  ipAddress: '127.0.0.1',
  userAgent: 'OpenAI/JS 6.1.0, "x"',
  ...noCache,
  ...noMedia,
  tags: null,
  providerCost: 5n,
}

const counts = fc.integer({ min: 0, max: 2 ** 40 })
const texts = fc.constantFrom('fake/ok', 'a,b', 'ü☃', '', 'null', 'x,{y}', "o'hara")
const escapedTexts = fc.constantFrom(null, null, null, 'a "b"', 'back\\slash')

const logs = fc
  .record({
    userId: fc.constantFrom(...users),
    keyId: fc.constantFrom('key_1', 'key_2'),
    keyPrefix: fc.option(texts),
    endpoint: fc.constantFrom(
      '/v1/chat/completions',
      '/v1/images/edits',
      '/v1/audio/speech',
      '/v1/audio/transcriptions',
    ),
    requestedModel: texts,
    model: texts,
    provider: fc.option(texts),
    status: fc.constantFrom('success', 'error', 'cancelled'),
    error: fc.constantFrom(null, null, null, {
      type: 'a',
      code: 'model_not_found',
      message: 'No, "no".',
    }),
    finishReason: fc.option(texts),
    latencyMs: fc.integer({ min: 0, max: 1e6 }),
    firstTokenMs: fc.option(fc.integer({ min: 0, max: 1e6 })),
    inputTokens: counts,
    outputTokens: counts,
    cost: fc.bigInt({ min: 0n, max: 2n ** 50n }),
    platformFee: fc.bigInt({ min: 0n, max: 2n ** 40n }),
    billingMode: fc.constantFrom(
      'platform',
      'house',
      'byok',
      'org_pays',
      'member_pays',
      'free',
      null,
    ),
    providerCost: fc.option(fc.bigInt({ min: 0n, max: 2n ** 50n })),
    accountId: fc.constantFrom(...users, null),
    organizationId: fc.option(fc.constant('org_1')),
    concurrent: fc.integer({ min: 1, max: 100 }),
    callerUser: escapedTexts,
    metadata: fc.constantFrom(null, null, null, { team: 'a, "b"' }),
    userAgent: texts,
    cachedTokens: fc.constantFrom(0, 7),
    cacheSavings: fc.bigInt({ min: -(2n ** 40n), max: 2n ** 40n }),
    images: fc.constantFrom(null, null, 3),
    soundMs: fc.constantFrom(null, null, 2500),
    speechCharacters: fc.constantFrom(null, null, 19),
    speechMs: fc.constantFrom(null, null, 1200),
    tags: fc.constantFrom(null, null, ['a', 'b c'], ['a'], ['null', 'team:x']),
  })
  .map((fields): LogValues => ({ ...plain, ...fields, id: newId('req') }))

const isCopied = (fields: Partial<LogValues>) =>
  readSummedLog(toLogRecord({ ...plain, userAgent: 'curl', ...fields })) !== undefined

describe('copied request logs', () => {
  test('leave the very rows and sums that inserted ones leave', async () => {
    let total = 0
    const property = fc.asyncProperty(fc.array(logs, { maxLength: 40 }), async (batch) => {
      await Promise.all([empty(copied), empty(inserted)])
      const records = batch.map(toLogRecord)
      total += records.filter((record) => readSummedLog(record)).length
      const newLogs = batch.map((log, index) =>
        index % 2 === 0 ? toLoggedRequest(log) : { text: toLogRecord(log) },
      )
      await copied.query.transaction().execute((trx) => copyLogs(trx, newLogs))
      await insertLogs(inserted.query, records)
      expect(await readAll(copied)).toEqual(await readAll(inserted))
    })
    await fc.assert(property, { numRuns: 60 })
    expect(total).toBeGreaterThan(50)
  })

  test('have sums that are equal whether their records are parsed or not', () => {
    const property = fc.property(logs, (log) => {
      const { text, summed } = toLoggedRequest(log)
      expect(text).toBe(toLogRecord(log))
      expect(summed).toEqual(readSummedLog(text))
    })
    fc.assert(property)
  })

  test('are nearly all logs: the ones without objects and escapes', () => {
    expect(isCopied({})).toBe(true)
    expect(isCopied({ cachedTokens: 1, cacheSavings: -1n })).toBe(true)
    expect(isCopied({ tags: ['team:search', 'two words'] })).toBe(true)
    expect(isCopied({ userAgent: 'a "b"' })).toBe(false)
    expect(isCopied({ metadata: { a: 'b' } })).toBe(false)
    expect(isCopied({ error: { type: 'a', code: 'b', message: 'c' } })).toBe(false)
  })

  test('reject if they exist already, and change nothing', async () => {
    await empty(copied)
    const [one, two] = [
      toLoggedRequest({ ...plain, userAgent: 'a' }),
      toLoggedRequest({ ...plain, id: newId('req'), userAgent: 'a' }),
    ]
    const copy = (newLogs: LoggedRequest[]) =>
      copied.query.transaction().execute((trx) => copyLogs(trx, newLogs))
    await copy([one])
    const before = await readAll(copied)
    expect(isUniqueViolation(await copy([two, one]).catch((thrown: unknown) => thrown))).toBe(true)
    expect(await readAll(copied)).toEqual(before)
  })
})
