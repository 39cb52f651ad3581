import { expect, test } from 'bun:test'
import { newFields, shareOf, toSentOverride } from './queries'

test.each([
  [0, 10, 0],
  [4, 10, 40],
  [12, 10, 120],
  [0, 0, 100],
])('%d used of %d are %d percent', (used, amount, share) => {
  expect(shareOf({ used, amount_in_force: amount })).toBe(share)
})

test('a form sends an override only where it is another one, and null where it was emptied', () => {
  const until = '2099-03-01T10:30:00.000Z'
  const override = { amount: 5, from: '2099-01-01T00:00:00.000Z', until, created_by: 'user_1' }
  const fields = { ...newFields(), override_until: '2099-05-01T12:00' }
  expect(toSentOverride(fields, { override: null })).toBeUndefined()
  expect(toSentOverride(fields, { override })).toBeNull()
  expect(toSentOverride({ ...fields, override_amount: 7 }, { override })).toEqual({
    amount: 7,
    until: new Date('2099-05-01T12:00').toISOString(),
  })
})
