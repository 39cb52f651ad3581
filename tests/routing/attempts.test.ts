import { afterAll, beforeAll, expect, test } from 'bun:test'
import { openStage, type Stage } from './stage'
import type { Answer, Json } from '../faults/asking'
import { bookedOf, requestIdOf } from '../money/till'

let stage: Stage

beforeAll(async () => {
  stage = await openStage()
  for (const name of ['ok', 'status-503-a', 'ok-plain']) await stage.rig.model(name)
  await stage.rig.model('ok-dumb', { capabilities: { tools: false } })
})
afterAll(() => stage[Symbol.asyncDispose]())

/** What the database tells of the attempts of a request, in their order. */
async function attemptsOf(answer: Answer): Promise<Json[]> {
  const id = requestIdOf(answer)
  await bookedOf(stage.sql, [id])
  const rows: Json[] = await stage.sql`
    select model, outcome, reason, requested_model, passed_over from usage_event
    where request_id = ${id} order by started_at, outcome <> 'failed_over'`
  return [...rows]
}

test('a plain request: what was asked for is what served, and nobody was passed over', async () => {
  expect(await attemptsOf(await stage.chat('fake/ok'))).toEqual([
    { model: 'fake/ok', outcome: 'ok', reason: null, requested_model: null, passed_over: null },
  ])
})

test('a mapped one keeps the name that was asked for', async () => {
  await stage.api('POST /user/model-mappings', {
    source_pattern: 'gpt-4o',
    target_model: 'fake/ok',
  })
  expect(await attemptsOf(await stage.chat('gpt-4o'))).toMatchObject([
    { model: 'fake/ok', outcome: 'ok', requested_model: 'gpt-4o' },
  ])
})

const passed = (model: string, reason: string) => ({
  model,
  provider: 'fake',
  connection_id: null,
  reason,
})

test('an attempt that failed over says why; so does who was not asked', async () => {
  const members = ['fake/ok-dumb', 'fake/status-503-a', 'fake/ok']
  const name = await stage.collection({ name: 'told', members })
  const tools = [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }]
  const dumb = passed('fake/ok-dumb', 'invalid_request')
  expect(await attemptsOf(await stage.chat(name, { tools }))).toEqual([
    {
      model: 'fake/status-503-a',
      outcome: 'failed_over',
      reason: 'provider_error',
      requested_model: name,
      passed_over: [dumb],
    },
    { model: 'fake/ok', outcome: 'ok', reason: null, requested_model: name, passed_over: null },
  ])
  expect(await attemptsOf(await stage.chat(name, { tools }))).toMatchObject([
    { model: 'fake/ok', passed_over: [dumb, passed('fake/status-503-a', 'cooling_down')] },
  ])
})

test('who cannot be paid is passed over by its connection', async () => {
  const poor = await stage.rig.gateway.customer({}, { credit: 0 })
  await stage.rig.model('ok-gratis', { is_free: true })
  const fields = { name: 'poor', members: ['fake/ok', 'fake/ok-gratis'] }
  await stage.api('POST /user/model-collections', fields, poor)
  const [attempt] = await attemptsOf(await stage.chat('collection/poor', {}, poor))
  expect(attempt).toMatchObject({
    model: 'fake/ok-gratis',
    passed_over: [
      {
        model: 'fake/ok',
        reason: 'insufficient_credits',
        connection_id: expect.stringMatching(/^conn_/),
      },
    ],
  })
})

test('a request that fails at last tells its reason as its outcome', async () => {
  await stage.rig.model('status-500-last')
  const [attempt] = await attemptsOf(await stage.chat('fake/status-500-last'))
  expect(attempt).toMatchObject({ outcome: 'provider_error', reason: null })
})
