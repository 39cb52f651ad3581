import { describe, expect, test } from 'bun:test'
import { breakdownSource } from './breakdown-source'

describe('groupings and filters', () => {
  const own = { id: 'user_1', organizationId: null }
  const shared = { id: 'org_1', organizationId: 'org_1' }
  test.each([
    ['members of an account', { account: own, filter: { group_by: 'member' }, param: 'group_by' }],
    [
      'departments of an account',
      { account: own, filter: { group_by: 'model', split_by: 'department' }, param: 'split_by' },
    ],
    [
      'a member of an account',
      { account: own, filter: { group_by: 'model', member_id: 'user_2' }, param: 'member_id' },
    ],
    [
      'keys of an organization',
      { account: shared, filter: { group_by: 'key' }, param: 'group_by' },
    ],
    [
      'a key of an organization',
      { account: shared, filter: { group_by: 'model', key_id: 'key_1' }, param: 'key_id' },
    ],
    [
      'tags of an organization',
      { account: shared, filter: { group_by: 'model', split_by: 'tag' }, param: 'split_by' },
    ],
    [
      'a tag of an organization',
      { account: shared, filter: { group_by: 'model', tag: 'a' }, param: 'tag' },
    ],
    [
      'the same twice',
      { account: own, filter: { group_by: 'model', split_by: 'model' }, param: 'split_by' },
    ],
  ] as const)('%s are rejected', (_case, { account, filter, param }) => {
    expect(() => breakdownSource(account, filter)).toThrow(
      expect.objectContaining({ code: 'invalid_request', param }),
    )
  })
})
