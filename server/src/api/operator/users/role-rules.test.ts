import { expect, test } from 'bun:test'
import { isContradiction, toRequestedRole } from './role-rules'

test.each([
  [{}, undefined],
  [{ is_operator: true }, 'operator'],
  [{ is_operator: false }, null],
  [{ operator_role: 'support' }, 'support'],
  [{ operator_role: null }, null],
  [{ operator_role: 'finance', is_operator: false }, 'finance'],
] as const)('%j sets the role %p', (fields, role) => {
  expect(toRequestedRole(fields)).toBe(role)
  expect(isContradiction(fields)).toBe(false)
})

test.each([
  { operator_role: 'operator', is_operator: false },
  { operator_role: 'read_only', is_operator: true },
  { operator_role: null, is_operator: true },
] as const)('%j contradicts itself', (fields) => {
  expect(isContradiction(fields)).toBe(true)
})
