import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { installationDirectory, listIn, organizationDirectory } from './fixture'
import { sendOperatorRequest } from '../../harness/operator'
import type { Json } from '../../harness/http'
import { startGateway, type Gateway } from '../../harness/server'

/** Source: contract 2.6. Bodies are those that Entra ID and Okta document. */

let gateway: Gateway

beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(async () => {
  gateway.recorder.verify()
  await gateway[Symbol.asyncDispose]()
})

type OrganizationDirectory = Awaited<ReturnType<typeof organizationDirectory>>

/** The members of an organization other than its owner: role and status by account. */
async function membersOf({ api, organization }: OrganizationDirectory) {
  const { body } = await api(`GET /organizations/${organization}/members`)
  return Object.fromEntries(
    listIn(body, 'members')
      .filter(({ role }) => role !== 'owner')
      .map(({ user_id: id, role, department }) => [String(id), [role, department]]),
  )
}

const mapGroups = ({ api, path, id }: OrganizationDirectory, ...groups: Json[]) =>
  api(`PUT ${path}/${id}`, { groups })

describe('a group', () => {
  test('is created, read, listed, renamed and deleted', async () => {
    const directory = await installationDirectory(gateway)
    const user = await directory.user(`a@${directory.domain}`)
    const id = await directory.group('Engineers', [user])
    const read = await directory.send(`GET /Groups/${id}`)
    expect(read.body).toMatchObject({
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:Group'],
      id,
      displayName: 'Engineers',
      members: [{ value: user, display: `a@${directory.domain}`, type: 'User' }],
      meta: { resourceType: 'Group', version: read.headers.get('etag') },
    })
    const without = await directory.send(`GET /Groups/${id}?excludedAttributes=members`)
    expect(without.body).not.toContainKey('members')
    for (const filter of ['displayName eq "ENGINEERS"', `id eq "${id}" and members eq "${user}"`]) {
      const query = `excludedAttributes=members&filter=${encodeURIComponent(filter)}`
      const { body } = await directory.send(`GET /Groups?${query}`)
      expect([filter, body['Resources']]).toMatchObject([filter, [{ id }]])
    }
    const value = { id, displayName: 'Builders' }
    const renamed = await directory.patch(`/Groups/${id}`, { op: 'replace', value })
    expect([renamed.status, renamed.body['displayName']]).toEqual([200, 'Builders'])
    expect((await directory.send(`GET /Users/${user}`)).body['groups']).toMatchObject([
      { value: id, display: 'Builders' },
    ])
    const taken = await directory.send('POST /Groups', { displayName: 'builders' })
    expect([taken.status, taken.body['scimType']]).toEqual([409, 'uniqueness'])
    expect((await directory.send(`DELETE /Groups/${id}`)).status).toBe(204)
    expect((await directory.send(`GET /Groups/${id}`)).status).toBe(404)
  })

  test('changes its members by the requests of Entra ID and Okta', async () => {
    const directory = await installationDirectory(gateway)
    const [one, two] = [
      await directory.user(`one@${directory.domain}`),
      await directory.user(`two@${directory.domain}`),
    ]
    const id = await directory.group('Staff')
    const changes: [Json, string[]][] = [
      [{ op: 'Add', path: 'members', value: [{ $ref: null, value: one }] }, [one]],
      [{ op: 'add', path: 'members', value: [{ value: two, display: 'Two' }] }, [one, two]],
      [{ op: 'add', path: 'members', value: [{ value: two }] }, [one, two]],
      [{ op: 'remove', path: `members[value eq "${one}"]` }, [two]],
      [{ op: 'Remove', path: 'members', value: [{ $ref: null, value: two }] }, []],
      [{ op: 'replace', path: 'members', value: [{ value: one }, { value: two }] }, [one, two]],
      [{ op: 'remove', path: 'members[value eq "user_unknown"]' }, [one, two]],
      [{ op: 'remove', path: 'members' }, []],
    ]
    for (const [operation, members] of changes) {
      const { status, body } = await directory.patch(`/Groups/${id}`, operation)
      const ids = listIn(body, 'members').map(({ value }) => String(value))
      expect([operation, status, ids.toSorted()]).toEqual([operation, 200, members.toSorted()])
    }
  })
})

describe('the groups of an organization’s directory', () => {
  test('make members with the mapped role and department, and end these memberships', async () => {
    const directory = await organizationDirectory(gateway)
    await mapGroups(directory, { group_name: 'engineers', role: 'developer' })
    const enterprise = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User'
    const user = await directory.user(`a@${directory.domain}`, {
      [enterprise]: { department: 'Engines' },
    })
    expect(await membersOf(directory)).toEqual({})
    const id = await directory.group('Engineers', [user])
    expect(await membersOf(directory)).toEqual({ [user]: ['developer', 'Engines'] })
    await mapGroups(directory, { group_name: 'Engineers', role: 'viewer' })
    expect(await membersOf(directory)).toEqual({ [user]: ['viewer', 'Engines'] })
    await directory.patch(`/Users/${user}`, {
      op: 'replace',
      path: `${enterprise}:department`,
      value: 'Sales',
    })
    expect(await membersOf(directory)).toEqual({ [user]: ['viewer', 'Sales'] })
    await directory.patch(`/Groups/${id}`, { op: 'remove', path: `members[value eq "${user}"]` })
    expect(await membersOf(directory)).toEqual({})
    const { body } = await directory.api(
      `GET /organizations/${directory.organization}/audit-trail?object_id=${user}`,
    )
    const actions = listIn(body, 'changes').map(({ action, actor }) => [action, actor])
    expect(actions).toEqual([
      ['member.removed', directory.id],
      ['scim_user.changed', directory.id],
      ['member.changed', directory.id],
      ['member.role_changed', directory.owner.userId],
      ['member.joined', directory.id],
      ['scim_user.created', directory.id],
    ])
  })

  test('give the highest of several roles', async () => {
    const directory = await organizationDirectory(gateway)
    await mapGroups(
      directory,
      { group_name: 'All', role: 'viewer' },
      { group_name: 'Leads', role: 'admin' },
    )
    const user = await directory.user(`a@${directory.domain}`)
    await directory.group('All', [user])
    const leads = await directory.group('Leads', [user])
    expect(await membersOf(directory)).toEqual({ [user]: ['admin', null] })
    await directory.send(`DELETE /Groups/${leads}`)
    expect(await membersOf(directory)).toEqual({ [user]: ['viewer', null] })
    await directory.send(`DELETE /Users/${user}`)
    expect(await membersOf(directory)).toEqual({})
  })

  test('leave memberships of other origin as they are, and the owner', async () => {
    const directory = await organizationDirectory(gateway)
    const { api, organization, owner, domain } = directory
    await api(`PUT /organizations/${organization}`, {
      is_public: true,
      allow_join_requests: true,
      auto_approve_domains: [domain],
    })
    await gateway.admin('PUT', `/users/${owner.userId}`, { email: `owner@${domain}` })
    const user = await directory.user(`a@${domain}`)
    const { key } = await gateway.admin('POST', `/users/${user}/keys`, {
      name: 'One',
      permissions: ['admin'],
    })
    await api(`POST /organizations/${organization}/join`, {}, String(key))
    expect(await membersOf(directory)).toEqual({ [user]: ['member', null] })
    await mapGroups(directory, { group_name: 'All', role: 'viewer' })
    const ownerId = await directory.user(`owner@${domain}`)
    expect(ownerId).toBe(owner.userId)
    const id = await directory.group('All', [user, ownerId])
    expect(await membersOf(directory)).toEqual({ [user]: ['member', null] })
    await directory.send(`DELETE /Groups/${id}`)
    expect(await membersOf(directory)).toEqual({ [user]: ['member', null] })
    expect((await api(`GET /organizations/${organization}`)).body['role']).toBe('owner')
  })

  test('are bound by the limit on members, and nothing changes beyond it', async () => {
    const directory = await organizationDirectory(gateway)
    await gateway.admin('PUT', `/organizations/${directory.organization}`, { member_limit: 2 })
    await mapGroups(directory, { group_name: 'All', role: 'member' })
    const users = [
      await directory.user(`a@${directory.domain}`),
      await directory.user(`b@${directory.domain}`),
    ]
    const { status, body } = await directory.send('POST /Groups', {
      displayName: 'All',
      members: users.map((value) => ({ value })),
    })
    expect([status, body['detail']]).toEqual([400, expect.stringContaining('at most 2 members')])
    expect(await membersOf(directory)).toEqual({})
    expect((await directory.send('GET /Groups')).body['totalResults']).toBe(0)
  })
})

test('the groups of an installation’s directory make members of several organizations', async () => {
  const first = await organizationDirectory(gateway)
  const second = await organizationDirectory(gateway)
  const directory = await installationDirectory(gateway)
  const user = await directory.user(`a@${directory.domain}`)
  await directory.group('Everyone', [user])
  await gateway.admin('PUT', `/scim-directories/${directory.id}`, {
    groups: [
      { group_name: 'Everyone', organization_id: first.organization, role: 'member' },
      { group_name: 'Everyone', organization_id: second.organization, role: 'developer' },
    ],
  })
  expect(await membersOf(first)).toEqual({ [user]: ['member', null] })
  expect(await membersOf(second)).toEqual({ [user]: ['developer', null] })
  await gateway.admin('DELETE', `/scim-directories/${directory.id}`)
  expect(await membersOf(first)).toEqual({ [user]: ['member', null] })
  const read = await sendOperatorRequest(gateway, `GET /users/${user}`)
  expect(read.body['status']).toBe('active')
})
