import { describe, expect, test } from 'bun:test'
import { namesOf, useTrailFixture } from './trail-fixture'
import { newOrganization } from '../../harness/organization'
import { idIn } from '../../harness/byok'

/** Whom the trail of an organization is told, and how long. */

const opened = useTrailFixture()

describe('the list', () => {
  test('is for owners and admins alone', async () => {
    const fixture = opened()
    const { api, trailOf } = fixture
    const one = await newOrganization(fixture)
    expect((await trailOf(one, await one.member('admin'))).length).toBeGreaterThan(0)
    for (const role of ['developer', 'viewer', 'member']) {
      const { status, error } = await api(await one.member(role), `GET ${one.path}/audit-trail`)
      expect([role, status, error.code]).toEqual([role, 403, 'insufficient_permissions'])
    }
    const suspended = await one.member('admin')
    await api(one.owner, `PUT ${one.path}/members/${suspended.userId}`, { status: 'suspended' })
    for (const outsider of [suspended, await fixture.newCustomer()]) {
      expect((await api(outsider, `GET ${one.path}/audit-trail`)).status).toBe(404)
    }
  })

  test('filters by organization, actor, kind, object and time, and pages', async () => {
    const fixture = opened()
    const { api, trailOf } = fixture
    const [one, other] = [await newOrganization(fixture), await newOrganization(fixture)]
    const admin = await one.member('admin')
    const id = idIn(await one.connection({}, admin))
    await api(one.owner, `PUT /connections/${id}`, { name: 'Renamed' })
    const of = (query: string) => trailOf(one, admin, query)
    expect(namesOf(await of(`actor=${admin.userId}`))).toEqual([
      'connection.created',
      'member.asked',
    ])
    expect(namesOf(await of('action=connection'))).toEqual([
      'connection.changed',
      'connection.created',
    ])
    expect(namesOf(await of('action=connection.changed'))).toEqual(['connection.changed'])
    expect(await of(`object_id=${id}`)).toHaveLength(2)
    const hourAgo = new Date(Date.now() - 3_600_000).toISOString()
    expect(await of(`from=${hourAgo}`)).toHaveLength(5)
    expect(await of(`to=${hourAgo}`)).toEqual([])
    expect(namesOf(await trailOf(other, other.owner))).toEqual(['organization.created'])
    const { body, text } = await api(admin, `GET ${one.path}/audit-trail?limit=3`)
    expect(body['pagination']).toMatchObject({ total: 5, has_more: true })
    const { next_cursor: cursor } = JSON.parse(text).pagination
    expect(namesOf(await of(`limit=3&cursor=${cursor}`))).toEqual([
      'member.asked',
      'organization.created',
    ])
    // A cursor is good for its own list alone.
    const foreign = await api(other.owner, `GET ${other.path}/audit-trail?limit=3&cursor=${cursor}`)
    expect([foreign.status, foreign.error.param]).toEqual([400, 'cursor'])
    for (const [query, param] of [
      ['action=nothing', 'action'],
      ['from=yesterday', 'from'],
    ]) {
      const { status, error } = await api(admin, `GET ${one.path}/audit-trail?${query}`)
      expect([status, error.param]).toEqual([400, param])
    }
  })
})

test('records cannot be changed, nor deleted before their retention ends', async () => {
  const fixture = opened()
  const { sql, trailOf } = fixture
  const one = await newOrganization(fixture)
  for (const statement of [
    'update organization_trail set actor = null',
    `update organization_trail set actor_email = 'somebody@example.com'`,
    `update organization_trail set object_name = null where object_name is not null`,
    'delete from organization_trail',
    'truncate organization_trail',
  ]) {
    await expect(sql.unsafe(statement).execute()).rejects.toThrow(/append-only|permission denied/)
  }
  expect(await trailOf(one, one.owner)).toHaveLength(1)
})

test('a change that cannot be put on record is not made', async () => {
  const fixture = opened()
  const { sql, api } = fixture
  const one = await newOrganization(fixture)
  const { owner, path } = one
  const id = idIn(await one.connection())
  const isClosed = `organization_id <> '${one.id}'`
  await sql.unsafe(
    `alter table organization_trail add constraint closed check (${isClosed}) not valid`,
  )
  const refused = [
    await api(owner, `PUT ${path}`, { name: 'Never on record' }),
    await api(owner, `DELETE /connections/${id}`),
    await api(owner, `POST /connections/${id}/update-key`, { api_key: 'sk-other-0123456789' }),
    await one.connection(),
    await api(owner, `DELETE ${path}`),
  ]
  expect(refused.map(({ status }) => status)).toEqual(refused.map(() => 500))
  await sql`alter table organization_trail drop constraint closed`
  const { body } = await api(owner, `GET ${path}`)
  expect(body['name']).not.toBe('Never on record')
  const listed = await api(owner, `GET /connections?organization_id=${one.id}`)
  expect(JSON.parse(listed.text).connections).toMatchObject([{ id, api_key_prefix: 'sk-o' }])
})

test('an erased account’s name is removed, and its actions stay', async () => {
  const fixture = opened()
  const { gateway, sql, api, trailOf, emailOf } = fixture
  const one = await newOrganization(fixture)
  const { owner, path } = one
  const erased = await fixture.newCustomer()
  const email = await emailOf(erased)
  await sql`update users set email_verified = true where id = ${erased.userId}`
  const invited = await api(owner, `POST ${path}/members/invite`, { email, role: 'admin' })
  await api(erased, `POST /organizations/invitations/${idIn(invited)}/accept`)
  await one.connection({}, erased)
  await api(owner, `PUT ${path}/members/${erased.userId}`, { department: 'Research' })
  // In two words: what he did himself goes with him, what others did about him does not.
  const answer = await fetch(`${gateway.url}/api/admin/users/${erased.userId}/export`, {
    headers: { authorization: `Bearer ${gateway.adminKey}` },
  })
  const exported = (await answer.text())
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
    .filter(({ table }) => table === 'organization_trail')
  expect(exported.map(({ row }) => row.action)).toEqual([
    'invitation.accepted',
    'connection.created',
  ])
  expect(exported[0].row).toMatchObject({ actor_email: email, actor: erased.userId })
  expect(JSON.stringify(exported)).not.toContain(await emailOf(owner))

  await gateway.admin('DELETE', `/users/${erased.userId}`)
  const erasedEmail = `${erased.userId}@erased.invalid`
  const changes = await trailOf(one, owner)
  expect(changes).toMatchObject([
    { action: 'member.removed', actor: 'operator', object_name: erasedEmail },
    { action: 'member.changed', actor: owner.userId, object_name: erasedEmail },
    { action: 'connection.created', actor_email: erasedEmail, client_address: null },
    { action: 'invitation.accepted', actor_email: erasedEmail, object_name: erasedEmail },
    { action: 'invitation.created', actor_email: await emailOf(owner), object_name: erasedEmail },
    { action: 'organization.created', actor_email: await emailOf(owner) },
  ])
  expect(JSON.stringify(changes)).not.toContain(email)
})
