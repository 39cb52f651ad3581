import { expect, test } from 'bun:test'
import { encodeRecord, logColumns, toOrphanLog, toLogRecord, withCharge } from './log-record'
import { valuesForTests } from '../../testing/request-logs/values'
import { newId, getIdTime } from '../platform/db/id'
import { recordForTests } from '../../testing/ledger/event'

const fieldsOf = (record: string): Record<string, unknown> => {
  const values: unknown = JSON.parse(record)
  if (!Array.isArray(values)) throw new Error('a record is a list')
  return Object.fromEntries(logColumns.map(([name], at) => [name, values[at]]))
}

test('a record has a value of each column, in their order, and is one line without a tab', () => {
  const log = valuesForTests({
    model: 'fake/line\n\tbroken',
    cost: 2n ** 60n,
    cachedTokens: 1,
    speechMs: 5,
    tags: ['a', 'b c'],
    providerCost: 7n,
  })
  const record = toLogRecord(log)
  expect(record).not.toMatch(/[\n\t]/)
  expect(JSON.parse(record)).toHaveLength(logColumns.length)
  expect(fieldsOf(record)).toMatchObject({
    id: log.id,
    started_at: getIdTime(log.id),
    model: 'fake/line\n\tbroken',
    cost: String(2n ** 60n),
    user_agent: log.userAgent,
    tags: '{a,b c}',
    provider_cost: '7',
  })
})

test('a record without a cache, media, tags and a provider’s cost ends before their columns, and has every other value at its place', () => {
  const log = valuesForTests()
  const record = toLogRecord(log)
  const withCache = toLogRecord({ ...log, cachedTokens: 7, cacheWriteTokens: 3, cacheSavings: -5n })
  expect(fieldsOf(withCache)).toEqual({
    ...fieldsOf(record),
    cached_tokens: 7,
    cache_write_tokens: 3,
    cache_savings: '-5',
  })
  expect(JSON.parse(record)).toHaveLength(logColumns.length - 9)
})

test('a value behind absent ones keeps its place; only absent ones at the end are left out', () => {
  expect(encodeRecord(['req_1', null, null, 1])).toBe('["req_1",null,null,1]')
  expect(encodeRecord(['req_1', null, 0, false, '', null, null])).toBe('["req_1",null,0,false,""]')
})

test('an orphan’s log has the attempt of its record, with the same id and time', () => {
  const requestId = newId('req')
  const usage = recordForTests('user_1', {
    requestId,
    streamed: true,
    operation: 'embeddings',
    requestedModel: 'collection/x',
    organizationId: 'org_1',
  })
  expect(fieldsOf(toOrphanLog(usage))).toMatchObject({
    id: requestId,
    started_at: getIdTime(requestId),
    user_id: 'user_1',
    key_id: 'key_1',
    endpoint: '/v1/embeddings',
    streamed: true,
    requested_model: 'collection/x',
    model: 'fake/ok',
    provider: 'fake',
    status: 'error',
    status_code: 500,
    cost: '0',
    organization_id: 'org_1',
  })
})

test('an orphan’s log shows whether a self-hosted gateway was called', () => {
  const usage = recordForTests('user_1', { connectionId: 'conn_1' })
  expect(fieldsOf(toOrphanLog(usage, new Set(['conn_1'])))).toMatchObject({ gateway_type: 3 })
  expect(fieldsOf(toOrphanLog(usage, new Set(['conn_2'])))).toMatchObject({ gateway_type: 2 })
})

test('M6: a log shows the charge, with the fee after the organization’s earnings', () => {
  const values = valuesForTests({ cost: 1000n, platformFee: 100n })
  const charged = (writtenOff: bigint) => {
    const { cost, platform_fee } = fieldsOf(withCharge(toLogRecord(values), writtenOff))
    return [cost, platform_fee]
  }
  expect(charged(0n)).toEqual(['1000', '100'])
  expect(charged(40n)).toEqual(['960', '60'])
  expect(charged(600n)).toEqual(['400', '0'])
  expect(charged(1000n)).toEqual(['0', '0'])
})
