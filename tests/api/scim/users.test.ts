import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { installationDirectory, type ScimClient } from './fixture'
import { sendOperatorRequest } from '../../harness/operator'
import { startGateway, type Gateway } from '../../harness/server'

/** Source: contract 2.6, RFC 7643, RFC 7644. Bodies are those that Entra ID and Okta document. */

let gateway: Gateway
let directory: ScimClient & { domain: string }

beforeAll(async () => {
  gateway = await startGateway()
  directory = await installationDirectory(gateway)
})
afterAll(async () => {
  gateway.recorder.verify()
  await gateway[Symbol.asyncDispose]()
})

const userSchema = 'urn:ietf:params:scim:schemas:core:2.0:User'
const enterprise = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User'
const address = (name: string) => `${name}@${directory.domain}`
const accountOf = async (id: string) =>
  (await sendOperatorRequest(gateway, `GET /users/${id}`)).body

test('Entra ID creates a user, whose account has a confirmed address and a name', async () => {
  const created = await directory.send('POST /Users', {
    schemas: [userSchema, enterprise],
    externalId: '0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef',
    userName: address('Ada.Entra'),
    active: true,
    emails: [{ primary: true, type: 'work', value: address('ada.mail') }],
    meta: { resourceType: 'User' },
    name: { formatted: 'Ada Lovelace', familyName: 'Lovelace', givenName: 'Ada' },
    [enterprise]: { department: 'Engines', employeeNumber: '7' },
    roles: [],
  })
  expect(created.status).toBe(201)
  const id = String(created.body['id'])
  const location = created.headers.get('location')
  expect(location).toMatch(new RegExp(`^http://[^/]+/scim/v2/Users/${id}$`))
  expect(created.body).toEqual({
    schemas: [userSchema, enterprise],
    id,
    externalId: '0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef',
    userName: address('Ada.Entra'),
    name: { formatted: 'Ada Lovelace', familyName: 'Lovelace', givenName: 'Ada' },
    displayName: 'Ada Lovelace',
    emails: [{ value: address('ada.mail'), type: 'work', primary: true }],
    active: true,
    groups: [],
    [enterprise]: { department: 'Engines' },
    meta: {
      resourceType: 'User',
      created: expect.any(String),
      lastModified: expect.any(String),
      location,
      version: created.headers.get('etag'),
    },
  })
  expect(created.headers.get('content-type')).toBe('application/scim+json')
  expect(await accountOf(id)).toMatchObject({
    email: address('ada.mail'),
    display_name: 'Ada Lovelace',
    status: 'active',
    is_operator: false,
  })
  expect((await directory.send(`GET /Users/${id}`)).body).toEqual(created.body)
})

test('Okta creates a user as it documents it', async () => {
  const { status, body } = await directory.send('POST /Users', {
    schemas: [userSchema],
    userName: address('grace.okta'),
    name: { givenName: 'Grace', familyName: 'Hopper' },
    emails: [{ primary: true, value: address('grace.okta'), type: 'work' }],
    displayName: 'Grace Hopper',
    locale: 'en-US',
    externalId: '00ujl29u0le5T6Aj10h7',
    groups: [],
    password: '1mz050nq',
    active: true,
  })
  expect([status, body['displayName'], body['active']]).toEqual([201, 'Grace Hopper', true])
  expect(JSON.stringify(body)).not.toContain('1mz050nq')
})

describe('a list', () => {
  test('is filtered as Entra ID and Okta do it', async () => {
    const userName = address('filtered')
    const id = await directory.user(userName, { externalId: 'ext-filtered' })
    const filters = [
      `userName eq "${userName.toUpperCase()}"`,
      `externalId eq "ext-filtered"`,
      `emails[type eq "work"].value eq "${userName}"`,
      `emails.value eq "${userName}" and active eq true`,
      `id eq "${id}"`,
      `displayName eq "filtered"`,
    ]
    for (const filter of filters) {
      const { body } = await directory.send(`GET /Users?filter=${encodeURIComponent(filter)}`)
      expect([filter, body['totalResults'], body['Resources']]).toMatchObject([filter, 1, [{ id }]])
    }
    const other = encodeURIComponent(`userName eq "${userName}" and externalId eq "another"`)
    const { status, body } = await directory.send(`GET /Users?filter=${other}`)
    expect([status, body]).toEqual([
      200,
      {
        schemas: ['urn:ietf:params:scim:api:messages:2.0:ListResponse'],
        totalResults: 0,
        startIndex: 1,
        itemsPerPage: 0,
        Resources: [],
      },
    ])
  })

  test('is paged by startIndex and count, within bounds', async () => {
    const own = await installationDirectory(gateway)
    const ids = []
    for (const name of ['a', 'b', 'c']) ids.push(await own.user(`${name}@${own.domain}`))
    const page = await own.send('GET /Users?startIndex=2&count=1')
    expect(page.body).toMatchObject({ totalResults: 3, startIndex: 2, itemsPerPage: 1 })
    expect(page.body['Resources']).toMatchObject([{ id: ids[1] }])
    for (const [query, count] of [
      ['count=0', 0],
      ['count=-1', 0],
      ['count=9999', 3],
      ['startIndex=0', 3],
    ]) {
      const { body } = await own.send(`GET /Users?${query}`)
      expect([query, body['totalResults'], body['itemsPerPage']]).toEqual([query ?? '', 3, count])
    }
    expect((await own.send('GET /Users?count=many')).status).toBe(400)
  })

  test('has the attributes that are wanted', async () => {
    const id = await directory.user(address('projected'))
    const wanted = await directory.send(`GET /Users/${id}?attributes=userName,emails.value`)
    expect(Object.keys(wanted.body).toSorted()).toEqual(['emails', 'id', 'schemas', 'userName'])
    const others = await directory.send(`GET /Users/${id}?excludedAttributes=groups,emails`)
    expect(others.body).not.toContainAnyKeys(['groups', 'emails'])
  })

  test.each(['userName co "a"', 'password eq "a"', `userName eq "${'a'.repeat(1000)}"`])(
    'with the filter %s is rejected',
    async (filter) => {
      const { status, body } = await directory.send(
        `GET /Users?filter=${encodeURIComponent(filter)}`,
      )
      expect(body).toEqual({
        schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
        status: '400',
        scimType: 'invalidFilter',
        detail: expect.any(String),
      })
      expect(status).toBe(400)
    },
  )
})

describe('a user', () => {
  test('is deactivated as Entra ID does it, and again activated as Okta does it', async () => {
    const id = await directory.user(address('switched'))
    const off = await directory.patch(`/Users/${id}`, {
      op: 'Replace',
      path: 'active',
      value: 'False',
    })
    expect([off.status, off.body['active']]).toEqual([200, false])
    expect((await accountOf(id))['status']).toBe('suspended')
    const on = await directory.patch(`/Users/${id}`, { op: 'replace', value: { active: true } })
    expect([on.status, on.body['active']]).toEqual([200, true])
    expect((await accountOf(id))['status']).toBe('active')
  })

  test('is changed by several operations, all or none', async () => {
    const id = await directory.user(address('several'))
    const changed = await directory.patch(
      `/Users/${id}`,
      { op: 'Replace', path: 'name.givenName', value: 'New' },
      { op: 'Replace', path: 'name.familyName', value: 'Name' },
      { op: 'Add', path: 'emails[type eq "work"].value', value: address('several.new') },
      { op: 'Add', path: `${enterprise}:department`, value: 'Sales' },
    )
    expect(changed.body).toMatchObject({
      displayName: 'New Name',
      emails: [{ value: address('several.new') }],
      [enterprise]: { department: 'Sales' },
    })
    const failed = await directory.patch(
      `/Users/${id}`,
      { op: 'replace', path: 'title', value: 'Chief' },
      { op: 'replace', path: 'unknownThing', value: 1 },
    )
    expect([failed.status, failed.body['scimType']]).toEqual([400, 'invalidPath'])
    expect((await directory.send(`GET /Users/${id}`)).body).toEqual(changed.body)
  })

  test('is replaced, and absent attributes become empty', async () => {
    const id = await directory.user(address('replaced'), { title: 'Chief', externalId: 'x' })
    const userName = address('replaced')
    const { status, body } = await directory.send(`PUT /Users/${id}`, {
      schemas: [userSchema],
      id,
      userName,
      displayName: 'Another',
      active: true,
    })
    expect(status).toBe(200)
    expect(body).toMatchObject({ userName, displayName: 'Another', active: true })
    expect(body).not.toContainAnyKeys(['title', 'externalId'])
  })

  test('changes only in the version that the client knows', async () => {
    const id = await directory.user(address('versioned'))
    const { headers } = await directory.send(`GET /Users/${id}`)
    const etag = headers.get('etag') ?? ''
    const unchanged = await directory.send(`GET /Users/${id}`, undefined, { 'if-none-match': etag })
    expect(unchanged.status).toBe(304)
    const put = (title: string) =>
      directory.send(
        `PUT /Users/${id}`,
        { schemas: [userSchema], userName: address('versioned'), title },
        { 'if-match': etag },
      )
    expect((await put('One')).status).toBe(200)
    expect((await put('Two')).status).toBe(412)
    expect((await directory.send(`GET /Users/${id}`)).body['title']).toBe('One')
  })

  test('is deleted: the account is suspended and stays, with its money and logs', async () => {
    const id = await directory.user(address('leaver'))
    await gateway.admin('POST', '/credits/grant', { user_id: id, amount: 5, reason: 'A test.' })
    const deleted = await directory.send(`DELETE /Users/${id}`)
    expect([deleted.status, deleted.body]).toEqual([204, {}])
    expect((await directory.send(`GET /Users/${id}`)).status).toBe(404)
    expect((await directory.send(`DELETE /Users/${id}`)).status).toBe(404)
    expect(await accountOf(id)).toMatchObject({ status: 'suspended', balance: 5 })
    // The same person returns.
    expect(await directory.user(address('leaver'))).toBe(id)
    expect(await accountOf(id)).toMatchObject({ status: 'active', balance: 5 })
  })

  test('has a name that no other user of the directory has', async () => {
    await directory.user(address('unique'))
    const again = await directory.send('POST /Users', { userName: address('UNIQUE') })
    expect([again.status, again.body['scimType']]).toEqual([409, 'uniqueness'])
  })
})
