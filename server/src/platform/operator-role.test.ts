import { expect, test } from 'bun:test'
import { operatorRoles, toOperatorRole, toRoleColumns } from './operator-role'

test('every role, and none, is read as it was stored', () => {
  for (const role of [...operatorRoles, null]) {
    expect(toOperatorRole(toRoleColumns(role))).toBe(role)
  }
})

test('only full operators are operators for nodes that know no other role', () => {
  const known = operatorRoles.filter((role) => toRoleColumns(role).is_operator)
  expect(known).toEqual(['operator'])
})

test('a node of before makes a full operator of an account with another role', () => {
  expect(toOperatorRole({ is_operator: true, operator_role: 'support' })).toBe('operator')
})
