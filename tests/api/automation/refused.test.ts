import { expect, test } from 'bun:test'
import { useSessionFixture } from './fixture'
import { createSessionClient } from './talk'
import { call } from '../../harness/byok'
import type { Answer } from '../../harness/http'
import { readLog } from '../../harness/request-log'

const { billing, fixture, talk, model } = useSessionFixture()

/** The log of a request of the fixture's customer, by the id of its answer. */
const logOf = (answer: Answer) => readLog(billing().rig.gateway, fixture().customer, answer)

test('a playground call that is rejected before its first message has a log', async () => {
  const refused = await talk().api('POST /sessions', { modelId: 'no/such' })
  expect(refused.status).toBe(404)
  expect(await logOf(refused)).toMatchObject({
    endpoint: '/api/automation/sessions',
    status: 'error',
    status_code: 404,
    requested_model: 'no/such',
    provider: null,
    cost: 0,
    error: { code: 'model_not_found', message: refused.error.message },
  })
})

test('a message continued with another model has one as well', async () => {
  const id = await talk().session({ modelId: await model('ok') })
  const refused = await talk().api(`PATCH /sessions/${id}`, { modelId: 'no/such' })
  expect(refused.status).toBe(404)
  expect(await logOf(refused)).toMatchObject({
    requested_model: 'no/such',
    error: { code: 'model_not_found' },
  })
})

test('a message that the state of its session rejects has one, too', async () => {
  const id = await talk().session({ modelId: await model('ok') })
  await talk().api(`PATCH /sessions/${id}`, { status: 'paused' })
  const refused = await talk().send(id, 'Hello?')
  expect(refused.status).toBe(400)
  expect(await logOf(refused)).toMatchObject({
    status_code: 400,
    error: { code: 'invalid_request' },
  })
})

test('a message whose model call is rejected has one log', async () => {
  const { gateway } = billing().rig
  const poor = await gateway.customer({}, { credit: 0 })
  const own = createSessionClient(gateway, poor)
  const refused = await own.send(await own.session({ modelId: await model('ok') }), 'Hello?')
  expect(refused.status).toBe(402)
  await readLog(gateway, poor, refused)
  const logs = await call(gateway, poor, 'GET /account/request-logs')
  expect(logs.body['logs']).toMatchObject([
    { id: refused.headers.get('x-request-id'), error: { code: 'insufficient_credits' } },
  ])
})

test('a rejected change without a model has none', async () => {
  const refused = await talk().api('PATCH /sessions/sess_00000000000000000000000000', { name: 'x' })
  expect(refused.status).toBe(404)
  // That of a later request is there.
  await logOf(await talk().api('POST /sessions', { modelId: 'no/such' }))
  const { gateway } = billing().rig
  const path = `GET /account/request-logs/${refused.headers.get('x-request-id')}`
  expect((await call(gateway, fixture().customer, path)).status).toBe(404)
})
