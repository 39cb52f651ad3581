import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { startStage, type Json, type Stage } from '../conformance/stage'
import { ask } from '../faults/asking'

setDefaultTimeout(60_000)

let stage: Stage

beforeAll(async () => {
  stage = await startStage({ environment: { STORE_RESPONSES: 'never' } })
})
afterAll(() => stage[Symbol.asyncDispose]())
afterEach(() => stage.verify())

const rows: [string, Json, string | null][] = [
  ['/v1/conversations', {}, null],
  ['/v1/conversations/conv_1/items', { items: [{ role: 'user', content: 'a' }] }, null],
  ['/v1/responses', { input: 'a', background: true }, 'background'],
  ['/v1/responses', { input: 'a', conversation: 'conv_1' }, 'conversation'],
]
test.each(rows)('where nothing is kept, %s refuses %j', async (path, fields, param) => {
  const { key } = stage.customer
  const body = { ...(path === '/v1/responses' && { model: await stage.model('ok') }), ...fields }
  const refused = await ask(stage.rig.gateway, { path, key, body })
  expect([refused.status, refused.error.param, refused.error.details?.['issue']]).toEqual([
    400,
    param,
    'not_allowed',
  ])
})

test('where nothing is kept, store is not heard', async () => {
  const model = await stage.model('ok')
  const told = await stage.client.responses.create({ model, input: 'Hello.', store: true })
  expect(told).toMatchObject({ store: false, background: false })
  const { key } = stage.customer
  const path = `/v1/responses/${told.id}`
  expect((await ask(stage.rig.gateway, { method: 'GET', path, key })).status).toBe(404)
})
