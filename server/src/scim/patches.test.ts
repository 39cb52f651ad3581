import { expect, test } from 'bun:test'
import { toGroupChange, toGroupFields } from './group-fields'
import { toOperations } from './operations'
import { toUserChange, toUserFields } from './user-fields'
import type { JsonObject } from '../wire/json-body'

const userChange = (...Operations: JsonObject[]) => toUserChange(toOperations({ Operations }))
const groupChange = (...Operations: JsonObject[]) => toGroupChange(toOperations({ Operations }))

/** Changes of users as the documentation of Entra ID and Okta has them. */
test.each([
  [{ op: 'Replace', path: 'active', value: 'False' }, { active: false }],
  [{ op: 'replace', value: { active: false } }, { active: false }],
  [{ op: 'Replace', path: 'active', value: true }, { active: true }],
  [
    { op: 'Add', path: 'emails[type eq "work"].value', value: 'a@b.example' },
    { email: 'a@b.example' },
  ],
  [
    { op: 'add', path: 'emails[primary eq true].value', value: 'a@b.example' },
    { email: 'a@b.example' },
  ],
  [{ op: 'Add', path: 'emails[type eq "home"].value', value: 'a@b.example' }, {}],
  [
    { op: 'add', value: { 'emails[type eq "work"].value': 'a@b.example', 'name.givenName': 'A' } },
    { email: 'a@b.example', givenName: 'A' },
  ],
  [
    {
      op: 'replace',
      path: 'emails',
      value: [{ value: 'x@b.example' }, { value: 'a@b.example', primary: true }],
    },
    { email: 'a@b.example' },
  ],
  [
    { op: 'replace', path: 'name', value: { givenName: 'A', familyName: 'B' } },
    { givenName: 'A', familyName: 'B' },
  ],
  [{ op: 'Remove', path: 'title' }, { title: null }],
  [{ op: 'Replace', path: 'userName', value: 'a@b.example' }, { userName: 'a@b.example' }],
  [
    {
      op: 'Add',
      path: 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department',
      value: 'Sales',
    },
    { department: 'Sales' },
  ],
  [
    {
      op: 'replace',
      value: {
        'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User': {
          department: 'Sales',
          employeeNumber: '7',
        },
      },
    },
    { department: 'Sales' },
  ],
  [{ op: 'Add', path: 'phoneNumbers[type eq "work"].value', value: '1' }, {}],
  [{ op: 'replace', value: { id: 'another', userName: 'a' } }, { userName: 'a' }],
] as const)('the operation %j changes a user', (operation, change) => {
  expect(userChange(operation)).toEqual(change)
})

test.each([
  [{ op: 'replace', path: 'active', value: 'maybe' }, 'invalidValue'],
  [{ op: 'replace', path: 'active', value: null }, 'invalidValue'],
  [{ op: 'replace', path: 'id', value: 'another' }, 'mutability'],
  [{ op: 'add', path: 'groups', value: [] }, 'mutability'],
  [{ op: 'remove', path: 'userName' }, 'invalidValue'],
  [{ op: 'remove' }, 'noTarget'],
  [{ op: 'replace', path: 'isOperator', value: true }, 'invalidPath'],
  [{ op: 'replace', path: '__proto__.isOperator', value: true }, 'invalidPath'],
  [{ op: 'replace', path: 'constructor', value: {} }, 'invalidPath'],
  [{ op: 'replace', value: { 'constructor.prototype': {} } }, 'invalidPath'],
  [{ op: 'replace', path: 'displayName', value: 'a\nb' }, 'invalidValue'],
  [{ op: 'replace', path: 'displayName', value: 'a'.repeat(257) }, 'invalidValue'],
  [{ op: 'replace', value: 'active' }, 'invalidValue'],
  [{ op: 'move', path: 'active', value: true }, 'invalidSyntax'],
])('the operation %j is rejected', (operation, scimType) => {
  expect(() => userChange(operation)).toThrow(expect.objectContaining({ status: 400, scimType }))
})

const rename = (value: string) => ({ op: 'replace', path: 'title', value })

test('operations apply in their order, and there are at most 200', () => {
  expect(userChange(rename('One'), rename('Two'))).toEqual({ title: 'Two' })
  const many = Array.from({ length: 201 }, () => rename('One'))
  expect(() => userChange(...many)).toThrow(expect.objectContaining({ scimType: 'invalidSyntax' }))
})

test('a whole user has all fields: those that are left out are empty', () => {
  const user = { schemas: [], id: 'x', userName: 'ada@b.example', name: { givenName: 'Ada' } }
  expect(toUserFields({ ...user, password: 'secret', 'urn:example:2.0:User': { a: 1 } })).toEqual({
    userName: 'ada@b.example',
    externalId: null,
    active: true,
    displayName: null,
    formatted: null,
    givenName: 'Ada',
    familyName: null,
    title: null,
    department: null,
    email: null,
  })
  expect(() => toUserFields({ active: true })).toThrow(
    expect.objectContaining({ scimType: 'invalidValue' }),
  )
})

/** Changes of groups as the documentation of Entra ID and Okta has them. */
test.each([
  [
    { op: 'Add', path: 'members', value: [{ $ref: null, value: 'u1' }] },
    [{ kind: 'add', userIds: ['u1'] }],
  ],
  [
    { op: 'Remove', path: 'members', value: [{ $ref: null, value: 'u1' }] },
    [{ kind: 'remove', userIds: ['u1'] }],
  ],
  [{ op: 'remove', path: 'members[value eq "u1"]' }, [{ kind: 'remove', userIds: ['u1'] }]],
  [
    { op: 'replace', path: 'members', value: [{ value: 'u1', display: 'A' }, { value: 'u1' }] },
    [{ kind: 'set', userIds: ['u1'] }],
  ],
  [{ op: 'remove', path: 'members' }, [{ kind: 'set', userIds: [] }]],
  [{ op: 'add', value: { members: [{ value: 'u1' }] } }, [{ kind: 'add', userIds: ['u1'] }]],
] as const)('the operation %j changes the members of a group', (operation, members) => {
  const changes: unknown = groupChange(operation).members
  expect(changes).toEqual(members)
})

test('Okta renames a group by an object that repeats its id', () => {
  const value = { id: 'grp_1', displayName: 'Another' }
  expect(groupChange({ op: 'replace', value })).toEqual({ displayName: 'Another', members: [] })
})

test('a request has at most 5,000 members', () => {
  const value = Array.from({ length: 2501 }, (_, index) => ({ value: `u${index}` }))
  const add = { op: 'add', path: 'members', value }
  expect(() => groupChange(add, add)).toThrow(expect.objectContaining({ scimType: 'tooMany' }))
  expect(() => toGroupFields({ displayName: 'A', members: [...value, ...value] })).toThrow(
    expect.objectContaining({ scimType: 'tooMany' }),
  )
})

test.each([
  { op: 'add', path: 'members', value: [{ value: 7 }] },
  { op: 'add', path: 'members', value: ['u1'] },
  { op: 'replace', path: 'displayName', value: '' },
  { op: 'remove', path: 'displayName' },
])('the operation %j is rejected as invalidValue', (operation) => {
  expect(() => groupChange(operation)).toThrow(
    expect.objectContaining({ scimType: 'invalidValue' }),
  )
})
