import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { installationDirectory, newDomain, organizationDirectory, scimClient } from './fixture'
import { Browser, password } from '../../harness/browser-session'
import { openDatabase } from '../../harness/database'
import { sendOperatorRequest } from '../../harness/operator'
import { startGateway, type Gateway } from '../../harness/server'

/** Source: contract 2.6: what the token of a directory cannot do. */

let gateway: Gateway

beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(async () => {
  gateway.recorder.verify()
  await gateway[Symbol.asyncDispose]()
})

const accountOf = async (id: string) =>
  (await sendOperatorRequest(gateway, `GET /users/${id}`)).body
const suspend = (id: string) =>
  sendOperatorRequest(gateway, `POST /users/${id}/suspend`, { reason: 'Abuse.' })

describe('an account that a directory does not have', () => {
  test('of a domain that the operator has not listed is neither taken nor shown', async () => {
    const directory = await organizationDirectory(gateway)
    const email = `victim@${newDomain()}`
    const victim = await gateway.customer({}, { email })
    for (const body of [
      { userName: email },
      { userName: `a@${directory.domain}`, emails: [{ value: email, primary: true }] },
      { userName: `victim@sub.${directory.domain}` },
      { userName: `victim@x${directory.domain}` },
    ]) {
      const answer = await directory.send('POST /Users', body)
      expect([body, answer.status]).toEqual([body, 403])
    }
    const filter = encodeURIComponent(`userName eq "${email}"`)
    const found = await directory.send(`GET /Users?filter=${filter}`)
    expect(found.body['totalResults']).toBe(0)
    for (const request of [`GET /Users/${victim.userId}`, `DELETE /Users/${victim.userId}`]) {
      expect([request, (await directory.send(request)).status]).toEqual([request, 404])
    }
    const off = await directory.patch(`/Users/${victim.userId}`, {
      op: 'replace',
      value: { active: false },
    })
    expect(off.status).toBe(404)
    expect((await accountOf(victim.userId))['status']).toBe('active')
  })

  test('is not reached by the address of a user: no other domain, no address that is taken', async () => {
    const directory = await organizationDirectory(gateway)
    const { userId } = await gateway.customer({}, { email: `taken@${directory.domain}` })
    const own = await directory.user(`mine@${directory.domain}`)
    const change = async (value: string) =>
      (
        await directory.patch(`/Users/${own}`, {
          op: 'replace',
          path: 'emails[type eq "work"].value',
          value,
        })
      ).status
    expect(await change(`taken@${directory.domain}`)).toBe(409)
    expect(await change(`boss@${newDomain()}`)).toBe(403)
    const renamed = await directory.patch(`/Users/${own}`, {
      op: 'replace',
      path: 'userName',
      value: `taken@${directory.domain}`,
    })
    expect(renamed.status).toBe(409)
    expect((await accountOf(own))['email']).toBe(`mine@${directory.domain}`)
    expect((await accountOf(userId))['email']).toBe(`taken@${directory.domain}`)
  })

  test('of another directory is not taken, also with the same domains', async () => {
    const first = await organizationDirectory(gateway)
    const user = await first.user(`a@${first.domain}`)
    const second = await organizationDirectory(gateway, [first.domain])
    const again = await second.send('POST /Users', { userName: `a@${first.domain}` })
    expect([again.status, again.body['scimType']]).toEqual([409, 'uniqueness'])
    const group = await first.group('Staff', [user])
    for (const request of [
      `GET /Users/${user}`,
      `GET /Groups/${group}`,
      `DELETE /Groups/${group}`,
    ]) {
      expect([request, (await second.send(request)).status]).toEqual([request, 404])
    }
    const joined = await second.send('POST /Groups', {
      displayName: 'X',
      members: [{ value: user }],
    })
    expect([joined.status, joined.body['scimType']]).toEqual([400, 'invalidValue'])
  })

  test('of an operator, or of an owner of another organization, is not taken by an organization', async () => {
    const directory = await organizationDirectory(gateway)
    const { domain } = directory
    const operator = await gateway.customer({}, { email: `chief@${domain}`, is_operator: true })
    const other = await gateway.customer({ permissions: ['admin'] }, { email: `other@${domain}` })
    await directory.api('POST /organizations', { name: 'Theirs' }, other.key)
    for (const name of ['chief', 'other']) {
      const answer = await directory.send('POST /Users', {
        userName: `${name}@${domain}`,
        active: false,
      })
      expect([name, answer.status]).toEqual([name, 409])
    }
    expect(await accountOf(operator.userId)).toMatchObject({ status: 'active', is_operator: true })
    expect((await accountOf(other.userId))['status']).toBe('active')
  })
})

test('an organization’s directory cannot change a user that became an operator', async () => {
  const directory = await organizationDirectory(gateway)
  const id = await directory.user(`a@${directory.domain}`)
  await gateway.admin('PUT', `/users/${id}`, { is_operator: true })
  const off = await directory.patch(`/Users/${id}`, { op: 'replace', value: { active: false } })
  expect([off.status, (await directory.send(`DELETE /Users/${id}`)).status]).toEqual([403, 403])
  expect((await accountOf(id))['status']).toBe('active')
})

test.each(['support', 'finance', 'read_only'])(
  'a directory changes no account with the role %s as an operator’s is not changed',
  async (role) => {
    const directory = await organizationDirectory(gateway)
    const id = await directory.user(`a@${directory.domain}`)
    await gateway.admin('PUT', `/users/${id}`, { operator_role: role })
    const off = await directory.patch(`/Users/${id}`, { op: 'replace', value: { active: false } })
    expect(off.status).toBe(403)
    const { userId } = await gateway.customer({}, { email: `b@${directory.domain}` })
    await gateway.admin('PUT', `/users/${userId}`, { operator_role: role })
    const taken = await directory.send('POST /Users', { userName: `b@${directory.domain}` })
    expect([taken.status, (await accountOf(userId))['operator_role']]).toEqual([409, role])
  },
)

test('an installation’s directory deactivates an operator, and does not change the address', async () => {
  const directory = await installationDirectory(gateway)
  const id = await directory.user(`a@${directory.domain}`)
  await gateway.admin('PUT', `/users/${id}`, { is_operator: true })
  const value = `mallory@${directory.domain}`
  const changed = await directory.patch(`/Users/${id}`, { op: 'replace', path: 'userName', value })
  expect(changed.status).toBe(403)
  const off = await directory.patch(`/Users/${id}`, { op: 'replace', value: { active: false } })
  expect([off.status, (await accountOf(id))['status']]).toEqual([200, 'suspended'])
})

test('SCIM makes no operator, and gives no role that is not mapped', async () => {
  const directory = await organizationDirectory(gateway)
  const id = await directory.user(`a@${directory.domain}`, {
    roles: [{ value: 'owner' }],
    entitlements: [{ value: 'is_operator' }],
  })
  await directory.group('admin', [id])
  expect((await accountOf(id))['is_operator']).toBe(false)
  const { body } = await directory.api(`GET /organizations/${directory.organization}/members`)
  expect(body['members']).toMatchObject([{ role: 'owner' }])
})

test('a directory without domains creates no one: deny by default', async () => {
  const directory = await organizationDirectory(gateway, [])
  const answer = await directory.send('POST /Users', { userName: `a@${newDomain()}` })
  expect(answer.status).toBe(403)
})

test('an account that an operator has suspended stays suspended', async () => {
  const directory = await organizationDirectory(gateway)
  const id = await directory.user(`a@${directory.domain}`)
  await suspend(id)
  const on = await directory.patch(`/Users/${id}`, { op: 'replace', value: { active: true } })
  expect([on.status, on.body['active']]).toEqual([200, false])
  await directory.send(`DELETE /Users/${id}`)
  expect(await directory.user(`a@${directory.domain}`)).toBe(id)
  expect(await accountOf(id)).toMatchObject({ status: 'suspended', suspended_reason: 'Abuse.' })
})

test('a password from before the confirmation of the address does not open the account', async () => {
  const directory = await installationDirectory(gateway)
  const email = `squatted@${directory.domain}`
  await using sql = await openDatabase(gateway.dataDir)
  const squatter = new Browser(gateway)
  await squatter.send('POST /api/auth/sign-up/email', { email, password, name: 'Mallory' })
  const id = await directory.user(email)
  const [account] = await sql`select email_verified from users where id = ${id}`
  expect(account).toEqual({ email_verified: true })
  await sql`delete from auth_rate_limit`
  const signedIn = await new Browser(gateway).send('POST /api/auth/sign-in/email', {
    email,
    password,
  })
  expect(signedIn.status).toBe(401)
})

describe('a token', () => {
  test('is required, and others are rejected', async () => {
    const { owner, send, domain } = await organizationDirectory(gateway)
    for (const token of ['', 'wrong', owner.key, gateway.adminKey]) {
      const answer = await scimClient(gateway, '', token).send('GET /Users')
      expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, 'Bearer'])
      expect(answer.body).toMatchObject({ status: '401', detail: expect.any(String) })
    }
    expect((await send('GET /Users')).status).toBe(200)
    // The token opens nothing else.
    const { token } = await organizationDirectory(gateway, [domain])
    for (const path of ['/v1/models', '/api/organizations', '/api/admin/users']) {
      const response = await fetch(`${gateway.url}${path}`, {
        headers: { authorization: `Bearer ${token}` },
      })
      expect([path, response.ok]).toEqual([path, false])
    }
  })

  test('is shown once and stored as a hash; after its replacement or deletion it is invalid at once', async () => {
    const directory = await organizationDirectory(gateway)
    const { api, path, id, token } = directory
    expect(token).toMatch(/^sc-tg-[0-9A-Za-z]{49}$/)
    const listed = await api(`GET ${path}`)
    expect(JSON.stringify(listed.body)).not.toContain(token)
    await using sql = await openDatabase(gateway.dataDir)
    const rows =
      await sql`select to_jsonb(scim_directory)::text as row from scim_directory where id = ${id}`
    expect(JSON.stringify([...rows])).not.toContain(token)
    const replaced = await api(`POST ${path}/${id}/token`)
    const next = scimClient(gateway, id, String(replaced.body['token']))
    expect([
      (await directory.send('GET /Users')).status,
      (await next.send('GET /Users')).status,
    ]).toEqual([401, 200])
    expect((await api(`DELETE ${path}/${id}`)).status).toBe(200)
    expect((await next.send('GET /Users')).status).toBe(401)
  })

  test('of a suspended organization is invalid', async () => {
    const directory = await organizationDirectory(gateway)
    await gateway.admin('PUT', `/organizations/${directory.organization}`, { status: 'suspended' })
    expect((await directory.send('GET /Users')).status).toBe(401)
  })
})

const group = (role: string) => ({ groups: [{ group_name: 'G', role }] })

describe('the directories of an organization', () => {
  test('are the owner’s: admins map groups below their role, others see none', async () => {
    const { api, organization, path, id } = await organizationDirectory(gateway)
    await api(`PUT /organizations/${organization}`, { is_public: true, allow_join_requests: true })
    const join = async (role: string) => {
      const member = await gateway.customer({ permissions: ['admin'] })
      await api(`POST /organizations/${organization}/join`, {}, member.key)
      const change = { status: 'active', role }
      await api(`PUT /organizations/${organization}/members/${member.userId}`, change)
      return member.key
    }
    const [admin, member] = [await join('admin'), await join('member')]
    const statuses = async (key: string) => [
      (await api(`GET ${path}`, undefined, key)).status,
      (await api(`POST ${path}`, { name: 'Mine' }, key)).status,
      (await api(`PUT ${path}/${id}`, group('developer'), key)).status,
      (await api(`PUT ${path}/${id}`, group('admin'), key)).status,
      (await api(`POST ${path}/${id}/token`, {}, key)).status,
      (await api(`DELETE ${path}/${id}`, undefined, key)).status,
    ]
    expect(await statuses(admin)).toEqual([200, 403, 200, 403, 403, 403])
    expect(await statuses(member)).toEqual([403, 403, 403, 403, 403, 403])
    const stranger = await gateway.customer({ permissions: ['admin'] })
    expect(await statuses(stranger.key)).toEqual([404, 404, 404, 404, 404, 404])
    expect((await api(`PUT ${path}/${id}`, group('owner'))).status).toBe(400)
  })

  test('have domains from operators only, and make members of that organization only', async () => {
    const directory = await organizationDirectory(gateway, [])
    const { api, path, id } = directory
    await api(`PUT ${path}/${id}`, { name: 'Mine', domains: ['example.com'] })
    expect((await api(`GET ${path}`)).body['directories']).toMatchObject([{ domains: [] }])
    const other = await organizationDirectory(gateway)
    const groups = [{ group_name: 'G', organization_id: other.organization, role: 'member' }]
    const answer = await sendOperatorRequest(gateway, `PUT /scim-directories/${id}`, { groups })
    expect([answer.status, answer.error?.param]).toEqual([400, 'groups'])
    const foreign = await api(`DELETE ${path}/${other.id}`)
    expect(foreign.status).toBe(404)
  })
})
