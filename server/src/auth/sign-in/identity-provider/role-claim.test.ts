import { expect, test } from 'bun:test'
import { toClaimedRole, toRoleAfterSignIn } from './role-claim'

const fullOnly = {
  claim: 'groups',
  values: { operator: ['admins'], support: [], finance: [], read_only: [] },
}
const all = {
  claim: 'groups',
  values: { operator: ['admins'], support: ['desk'], finance: ['money'], read_only: ['audit'] },
}

test.each([
  ['admins', 'operator'],
  [['desk'], 'support'],
  [['other', 'money'], 'finance'],
  [['audit', 'admins'], 'operator'],
  [['money', 'desk'], 'support'],
  [[], null],
  [['Admins'], null],
  [undefined, null],
  [{ admins: true }, null],
] as const)('the claim %j gives the role %p', (claim, role) => {
  expect(toClaimedRole(claim, all)).toBe(role)
})

test('a sign-in without a value takes every role where the claim decides all of them', () => {
  for (const role of ['operator', 'support', 'finance', 'read_only', null] as const) {
    expect(toRoleAfterSignIn(role, null, all)).toBeNull()
  }
})

test('a sign-in without a value takes only the role of full operators where no others are mapped', () => {
  expect(toRoleAfterSignIn('operator', null, fullOnly)).toBeNull()
  expect(toRoleAfterSignIn('support', null, fullOnly)).toBe('support')
  expect(toRoleAfterSignIn('support', 'operator', fullOnly)).toBe('operator')
  expect(toRoleAfterSignIn(null, null, fullOnly)).toBeNull()
})
