import { afterAll, beforeAll, expect, test } from 'bun:test'
import { installationDirectory, type ScimClient } from './fixture'
import { startGateway, type Gateway } from '../../harness/server'

/** Source: contract 2.6, RFC 7644. */

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
const address = (name: string) => `${name}@${directory.domain}`

test.each([
  ['{', 'invalidSyntax'],
  ['[]', 'invalidSyntax'],
  ['{"userName":7}', 'invalidValue'],
  ['{"schemas":[]}', 'invalidValue'],
  ['{"userName":"no-address"}', 'invalidValue'],
])('the body %s is rejected as %s', async (body, scimType) => {
  const response = await fetch(`${gateway.url}/scim/v2/Users`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${directory.token}`,
      'content-type': 'application/scim+json',
    },
    body,
  })
  const answer = await response.json()
  expect([response.status, answer]).toMatchObject([400, { status: '400', scimType }])
})

test('the service describes itself', async () => {
  const config = await directory.send('GET /ServiceProviderConfig')
  expect(config.body).toMatchObject({
    patch: { supported: true },
    bulk: { supported: false },
    filter: { supported: true, maxResults: 200 },
    etag: { supported: true },
    authenticationSchemes: [{ type: 'oauthbearertoken' }],
  })
  const types = await directory.send('GET /ResourceTypes')
  expect(types.body['Resources']).toMatchObject([{ id: 'User' }, { id: 'Group' }])
  const schemas = await directory.send('GET /Schemas')
  expect(schemas.body['totalResults']).toBe(3)
  expect((await directory.send(`GET /Schemas/${userSchema}`)).body['name']).toBe('User')
  expect((await directory.send('GET /ResourceTypes/Device')).status).toBe(404)
  const unknown = await directory.send('GET /Me')
  expect(unknown.body).toMatchObject({
    schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
    status: '404',
  })
})

test('each change is in the audit log of operators, without the names of people', async () => {
  const id = await directory.user(address('recorded'), { displayName: 'Very Secret' })
  await directory.patch(`/Users/${id}`, { op: 'replace', value: { active: false } })
  await directory.send(`DELETE /Users/${id}`)
  const { changes } = await gateway.admin('GET', `/audit-trail?object_id=${id}`)
  expect(changes).toMatchObject([
    { method: 'DELETE', sent: { directory_id: directory.id } },
    { method: 'PATCH', sent: { directory_id: directory.id, fields: ['active'], active: false } },
    { method: 'POST', object_kind: 'user', sent: { directory_id: directory.id, active: true } },
  ])
  expect(JSON.stringify(changes)).not.toContain('Secret')
})
