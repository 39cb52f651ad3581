import { expect, test } from 'bun:test'
import * as fc from '../../testing/property'
import { createTestEvent, recordForTests } from '../../testing/ledger/event'
import { chargeOf, toCharge } from './charge'
import { toOrphanRecord, recordColumns } from './usage-record'

/** Columns of a record that has none of those that few have. */
const shortest = recordColumns.findIndex(([name]) => name === 'requested_model')

test('writes a value for each column, for any name of a model', () => {
  const property = fc.property(fc.string({ unit: 'binary' }), fc.string(), (model, provider) => {
    const values: unknown = JSON.parse(recordForTests('user_1', { id: 'att_1', model, provider }))
    expect(values).toBeArrayOfSize(shortest)
    const named = Object.fromEntries(
      recordColumns.map(([name], at) => [name, Array.isArray(values) ? values[at] : undefined]),
    )
    expect(named).toMatchObject({ id: 'att_1', model, provider, input_tokens: 1, state: 'settled' })
  })
  fc.assert(property)
})

test('appends rare values last: requested model, skipped candidates, reason of a failover, price', () => {
  const one = { model: 'a/b', provider: 'a', connectionId: null, reason: 'cooling_down' }
  const details = { requestedModel: 'collection/"x"', passedOver: [one] }
  const stored = [details.requestedModel, [{ ...toSnake(one) }]]
  expect(lastOf({})).toEqual([])
  expect(lastOf(details)).toEqual(stored)
  expect(lastOf({ reason: 'provider_error' })).toEqual([null, null, 'provider_error'])
  expect(lastOf({ ...details, reason: 'provider_error' })).toEqual([...stored, 'provider_error'])
  expect(lastOf({ price: 12n })).toEqual([null, null, null, '12'])
  expect(lastOf({ ...details, price: 12n })).toEqual([...stored, null, '12'])
  const { tokens } = createTestEvent('user_1')
  const searched = { ...tokens, cacheWriteLong: 1, imageInput: 2, imageOutput: 3, searches: 4 }
  expect(lastOf({ tokens: searched })).toEqual([null, null, null, null, 1, 2, 3, 4])
  const ofTime = { ...tokens, processingMs: 7 }
  expect(lastOf({ tokens: ofTime }).slice(4)).toEqual([0, 0, 0, 0, null, null, 7])
  const ofCharacters = { ...tokens, inputCharacters: 5, outputCharacters: 0 }
  expect(lastOf({ tokens: ofCharacters }).slice(4)).toEqual([0, 0, 0, 0, 5, 0])
  const none = Array.from({ length: 12 }, () => null)
  expect(lastOf({ budgetTags: ['a', 'b:c'] })).toEqual([...none, 'a,b:c'])
  const some = { tokens: searched, budgetTags: ['a'] }
  expect(lastOf(some).slice(4)).toEqual([1, 2, 3, 4, null, null, null, null, 'a'])
  expect(lastOf({ tokens: ofTime, budgetTags: ['a'] }).slice(10)).toEqual([7, null, 'a'])
  const event = createTestEvent('user_1', { ...details, reason: 'provider_error', price: 12n })
  expect(chargeOf(recordForTests('user_1', event))).toEqual(toCharge(event))
})

const lastOf = (fields: object): unknown[] => {
  const values: unknown = JSON.parse(recordForTests('user_1', fields))
  return Array.isArray(values) ? values.slice(shortest) : []
}

const toSnake = ({ connectionId, ...rest }: { connectionId: null }) => ({
  ...rest,
  connection_id: connectionId,
})

test('reads the same charge from a record as was written to it', () => {
  const nanos = fc.bigInt({ min: 0n, max: 2n ** 63n - 1n })
  const property = fc.property(nanos, nanos, fc.boolean(), (cost, fromLease, isHeld) => {
    const leaseId = isHeld ? 'lease_1' : null
    const event = createTestEvent('user_1', { cost, fromLease, leaseId, id: 'att_1' })
    const record = recordForTests('user_1', event)
    expect(chargeOf(record)).toEqual(toCharge(event))
    const charge = toCharge(event)
    const usage = charge.usage && { ...charge.usage, outcome: 'orphan' }
    const orphan = { ...charge, cost: 0n, fromLease: 0n, isOrphan: true, usage }
    expect(chargeOf(toOrphanRecord(record))).toEqual(orphan)
  })
  fc.assert(property)
})

test('rejects a text that is not a record', () => {
  for (const text of ['', '{}', '[]', '["1"]', '[1,2,3]', 'null']) {
    expect(() => chargeOf(text)).toThrow()
    expect(() => toOrphanRecord(text)).toThrow()
  }
})
