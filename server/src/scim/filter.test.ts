import { expect, test } from 'bun:test'
import { parseFilter, parsePath } from './filter'

/** Filters as the documentation of Entra ID, Okta and RFC 7644 has them. */
const filters = [
  ['userName eq "bjensen"', [['username', 'bjensen']]],
  ['USERNAME Eq "a"', [['username', 'a']]],
  [
    'externalId eq "0a21f0f2" and active eq true',
    [
      ['externalid', '0a21f0f2'],
      ['active', true],
    ],
  ],
  [
    'emails[type eq "work"].value eq "a@b.example"',
    [
      ['emails.type', 'work'],
      ['emails.value', 'a@b.example'],
    ],
  ],
  [
    'emails[type eq "work" and value eq "a@b.example"]',
    [
      ['emails.type', 'work'],
      ['emails.value', 'a@b.example'],
    ],
  ],
  ['(displayName eq "A \\"b\\" \\u00e9")', [['displayname', 'A "b" é']]],
  ['urn:ietf:params:scim:schemas:core:2.0:User:userName eq "a"', [['username', 'a']]],
  [
    'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department eq "X"',
    [['department', 'X']],
  ],
  [
    'id eq "user_1" and members eq "user_2"',
    [
      ['id', 'user_1'],
      ['members', 'user_2'],
    ],
  ],
] as const

test.each(filters)('the filter %s has its conditions', (filter, conditions) => {
  expect(parseFilter(filter)).toEqual(
    conditions.map(([attribute, value]) => ({ attribute, value })),
  )
})

test.each([
  '',
  'userName',
  'userName eq',
  'userName eq bjensen',
  'userName eq {"a":1}',
  'userName co "a"',
  'userName eq "a" or userName eq "b"',
  'not (userName eq "a")',
  'userName pr',
  'userName eq "a',
  'userName eq "a" "b"',
  '(userName eq "a"',
  'emails[type eq "work"',
  'emails[type eq "work"].value',
  'eq eq',
  'userName eq "a\nb"',
  'userName eq "a" and',
  `userName eq "${'a'.repeat(1000)}"`,
  Array.from({ length: 11 }, () => 'id eq "a"').join(' and '),
  '('.repeat(500),
  `"${'\n'.repeat(500)}`,
  `"${'\\'.repeat(999)}`,
])('the filter %p is rejected as invalidFilter', (filter) => {
  expect(() => parseFilter(filter)).toThrow(
    expect.objectContaining({ status: 400, scimType: 'invalidFilter' }),
  )
})

test('a path has its attribute, its conditions and its part', () => {
  expect(parsePath('emails[type eq "work"].value')).toEqual({
    attribute: 'emails',
    conditions: [{ attribute: 'type', value: 'work' }],
    part: 'value',
  })
  expect(parsePath('members[value eq "user_1"]')).toEqual({
    attribute: 'members',
    conditions: [{ attribute: 'value', value: 'user_1' }],
  })
  expect(parsePath('name.givenName')).toEqual({ attribute: 'name.givenname', conditions: [] })
  const department = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department'
  expect(parsePath(department)).toEqual({ attribute: 'department', conditions: [] })
})

test.each([
  '',
  '[value eq "a"]',
  'members[',
  'members[value eq "a"',
  'members[value ne "a"]',
  'a b',
])('the path %p is rejected as invalidPath', (path) => {
  expect(() => parsePath(path)).toThrow(
    expect.objectContaining({ status: 400, scimType: 'invalidPath' }),
  )
})
