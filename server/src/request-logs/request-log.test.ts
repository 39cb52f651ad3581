import { expect, test } from 'bun:test'
import type { StoredBodies } from './insert-logs'
import { logColumns } from './log-record'
import { RequestLogs } from './request-logs'
import { newId, getIdTime } from '../platform/db/id'
import { ApiError } from '../errors'
import { createTestEvent } from '../../testing/ledger/event'

const caller = { userId: 'user_1', keyId: 'key_1', keyPrefix: 'sk-tg-AAAAAA', logBodies: false }

const fieldsOf = (record: string | undefined): Record<string, unknown> => {
  const values: unknown = JSON.parse(record ?? 'null')
  if (!Array.isArray(values)) throw new Error('there is no record')
  return Object.fromEntries(logColumns.map(([name], at) => [name, values[at]]))
}

function newLogs({ allowsBodies = false } = {}) {
  const alone: string[] = []
  const bodies: StoredBodies[] = []
  const logs = new RequestLogs({
    sink: { addLog: (record) => alone.push(record), addBodies: (kept) => bodies.push(kept) },
    allowsBodies: () => allowsBodies,
  })
  const begin = (more: Partial<typeof caller> = {}) =>
    logs.begin(
      {
        requestId: newId('req'),
        endpoint: '/v1/chat/completions',
        address: () => '192.0.2.1',
        userAgent: 'x'.repeat(400),
      },
      { ...caller, ...more },
    )
  return { begin, alone, bodies }
}

test('a log is written once, with the last attempt or alone', () => {
  const { begin, alone } = newLogs()
  const served = begin()
  served.setOutcome({ outcome: 'ok' })
  expect(fieldsOf(served.record(createTestEvent('user_1'))?.text)).toMatchObject({
    status: 'success',
    input_tokens: 12,
    output_tokens: 16,
    ip_address: '192.0.2.1',
    user_agent: 'x'.repeat(300),
  })
  expect(served.record(createTestEvent('user_1'))).toBeUndefined()
  served.refuse({ outcome: 'internal_error' })
  expect(alone).toEqual([])
  const refused = begin()
  refused.refuse({ outcome: 'model_not_found', error: new ApiError('model_not_found') })
  refused.refuse({ outcome: 'ok' })
  expect(refused.record(createTestEvent('user_1'))).toBeUndefined()
  expect(alone).toHaveLength(1)
  expect(fieldsOf(alone[0])).toMatchObject({ status: 'error', status_code: 404, provider: null })
  const repeat = begin()
  repeat.drop()
  repeat.close()
  expect(alone).toHaveLength(1)
})

test('an unexpected error is logged as an internal error, without its text', () => {
  const { begin, alone } = newLogs()
  begin().refuse({ outcome: 'internal_error' })
  expect(fieldsOf(alone[0])).toMatchObject({
    status_code: 500,
    error: { code: 'internal_error', message: new ApiError('internal_error').message },
  })
})

const fees = [
  ['platform', 100_000, 1009n, '100'],
  ['platform', null, 1009n, '0'],
  ['member_pays', 250_000, 1000n, '250'],
  ['byok', 100_000, 77n, '77'],
  ['org_pays', 100_000, 77n, '77'],
  ['free', null, 0n, '0'],
] as const

test.each(fees)(
  'for %s at %p millionths of a fee',
  (...[billingMode, feeMillionths, cost, fee]) => {
    const log = newLogs().begin()
    const event = createTestEvent('user_1', { billingMode, feeMillionths, cost })
    expect(fieldsOf(log.record(event)?.text)).toMatchObject({
      cost: String(cost),
      platform_fee: fee,
    })
  },
)

test('counts concurrent requests for each account', () => {
  const { begin, alone } = newLogs()
  const [first, second, other] = [begin(), begin(), begin({ userId: 'user_2' })]
  for (const log of [first, second, other]) log.close()
  begin().close()
  expect(alone.map((record) => fieldsOf(record)['concurrent'])).toEqual([1, 2, 1, 1])
})

test('stores bodies only where the operator and the caller allow it', () => {
  for (const [allowsBodies, logBodies] of [
    [false, true],
    [true, false],
  ] as const) {
    const { begin, bodies } = newLogs({ allowsBodies })
    const log = begin({ logBodies })
    expect(log.keepRequest).toBeUndefined()
    log.answered({}, { secret: 'told' })
    log.addPieces(['{"choices":[]}'], false)
    log.close()
    expect(bodies).toEqual([])
  }
  const { begin, bodies } = newLogs({ allowsBodies: true })
  const log = begin({ logBodies: true })
  log.keepRequest?.('asked')
  log.addPieces(['frame'], true)
  log.close()
  const [kept] = bodies
  expect(kept).toMatchObject({ userId: 'user_1', request: 'asked', response: 'frame' })
  expect(kept?.startedAt.getTime()).toBe(getIdTime(kept?.id ?? ''))
})

test('K02: never stores a key in the wrong field, even if text around it is lost', () => {
  const { begin, alone } = newLogs()
  const log = begin()
  const pem = '-----BEGIN RSA PRIVATE KEY-----\nAAAA'
  log.read({ model: 'fake/sk-tg-0123456789abcdefghij' })
  log.checked({ user: 'sk-tg-0123456789abcdefghij', metadata: { pem, name: 'x', n: 1, sk: '-"-' } })
  log.refuse({ outcome: 'model_not_found', error: new ApiError('model_not_found') })
  expect(fieldsOf(alone[0])).toMatchObject({
    requested_model: 'fake/[secret]',
    caller_user: '[secret]',
    metadata: { pem: '[secret]', name: 'x', n: null, sk: '-"-' },
  })
})

test('cuts texts of callers, and omits metadata that is too large', () => {
  const { begin, alone } = newLogs()
  const log = begin()
  log.read({ model: 'm'.repeat(1000), stream: true })
  log.checked({ user: 'u', metadata: { long: 'x'.repeat(20_000) }, stream: true })
  log.close()
  expect(fieldsOf(alone[0])).toMatchObject({
    requested_model: 'm'.repeat(256),
    streamed: true,
    caller_user: 'u',
    metadata: null,
  })
})
