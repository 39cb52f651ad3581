import { expect, test } from 'bun:test'
import { describeBilling, describePaid, payerName, type Payer } from './payer'

const own: Payer = { payer: 'personal', payer_name: null }
const acme: Payer = { payer: 'organization', payer_name: 'Acme' }
const house: Payer = { payer: 'operator', payer_name: null }

test('finding B2: a request that an organization’s pool paid names the organization', () => {
  const request = { ...acme, billing_mode: 'platform', organization_name: 'Acme' } as const
  expect(describeBilling(request, 'owner')).toBe('the credits of Acme')
  expect(describeBilling(request, 'operator')).toBe('the credits of Acme')
  expect(describeBilling({ ...request, ...own, organization_name: null }, 'owner')).toBe(
    'your credits',
  )
  expect(describeBilling({ ...request, ...own, organization_name: null }, 'operator')).toBe(
    'the account’s credits',
  )
})

const of = (billing_mode: 'org_pays' | 'member_pays' | 'house' | 'free', payer: Payer) =>
  describeBilling({ ...payer, billing_mode, organization_name: 'Acme' }, 'owner')

test('finding B2: the other ways to pay name the payer as well', () => {
  expect(of('org_pays', acme)).toBe('Acme, through its own connection')
  expect(of('member_pays', own)).toBe('your credits, for a connection of Acme')
  expect(of('house', house)).toBe('not charged: billed to the operator')
  expect(of('free', { payer: null, payer_name: null })).toBe('free')
  const rejected = { payer: null, payer_name: null, billing_mode: null, organization_name: null }
  expect(describeBilling(rejected, 'owner')).toBeNull()
})

test('an organization that is gone is named so', () => {
  expect(payerName({ ...acme, payer_name: null })).toBe('a deleted organization')
})

test('finding B1: a cost is split by payer, unless the account paid all of it', () => {
  expect(describePaid([])).toBeUndefined()
  expect(describePaid([{ ...own, cost: 4 }])).toBeUndefined()
  const parts = [
    { ...acme, cost: 205 },
    { ...own, cost: 14.53 },
    { ...house, cost: 0 },
  ]
  expect(describePaid(parts)).toBe('$205.00 by Acme, $14.53 by your credits')
})
