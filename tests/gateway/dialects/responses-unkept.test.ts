import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { createFixture, type Json, type Fixture } from '../../providers/conformance/fixture'
import { sendRequest } from '../../harness/http'

let fixture: Fixture

beforeAll(async () => {
  fixture = await createFixture({ environment: { STORE_RESPONSES: 'never' } })
})
afterAll(() => fixture[Symbol.asyncDispose]())
afterEach(() => fixture.verify())

const rows: [string, Json, string | null][] = [
  ['/v1/conversations', {}, null],
  ['/v1/conversations/conv_1/items', { items: [{ role: 'user', content: 'a' }] }, null],
  ['/v1/responses', { input: 'a', background: true }, 'background'],
  ['/v1/responses', { input: 'a', conversation: 'conv_1' }, 'conversation'],
]
test.each(rows)('without storage, %s rejects %j', async (path, fields, param) => {
  const { key } = fixture.customer
  const body = { ...(path === '/v1/responses' && { model: await fixture.model('ok') }), ...fields }
  const refused = await sendRequest(fixture.rig.gateway, { path, key, body })
  expect([refused.status, refused.error.param, refused.error.details?.['issue']]).toEqual([
    400,
    param,
    'not_allowed',
  ])
})

test('without storage, store is ignored', async () => {
  const model = await fixture.model('ok')
  const response = await fixture.client.responses.create({ model, input: 'Hello.', store: true })
  expect(response).toMatchObject({ store: false, background: false })
  const { key } = fixture.customer
  const path = `/v1/responses/${response.id}`
  expect((await sendRequest(fixture.rig.gateway, { method: 'GET', path, key })).status).toBe(404)
})
