import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createFixture, type Fixture } from './fixture'
import type { Answer, Json } from '../../harness/http'
import { findBooked, requestIdOf } from '../../harness/ledger'

let fixture: Fixture

beforeAll(async () => {
  fixture = await createFixture()
  for (const name of ['ok', 'status-503-a', 'ok-plain']) await fixture.rig.model(name)
  await fixture.rig.model('ok-dumb', { capabilities: { tools: false } })
})
afterAll(() => fixture[Symbol.asyncDispose]())

/** What the database tells of the attempts of a request, in their order. */
async function attemptsOf(answer: Answer): Promise<Json[]> {
  const id = requestIdOf(answer)
  await findBooked(fixture.sql, [id])
  const rows: Json[] = await fixture.sql`
    select model, outcome, reason, requested_model, passed_over from usage_event
    where request_id = ${id} order by started_at, outcome <> 'failed_over'`
  return [...rows]
}

test('a plain request: the requested model served, and no candidate was skipped', async () => {
  expect(await attemptsOf(await fixture.chat('fake/ok'))).toEqual([
    { model: 'fake/ok', outcome: 'ok', reason: null, requested_model: null, passed_over: null },
  ])
})

test('a mapped request keeps the requested name', async () => {
  await fixture.api('POST /user/model-mappings', {
    source_pattern: 'gpt-4o',
    target_model: 'fake/ok',
  })
  expect(await attemptsOf(await fixture.chat('gpt-4o'))).toMatchObject([
    { model: 'fake/ok', outcome: 'ok', requested_model: 'gpt-4o' },
  ])
})

const passed = (model: string, reason: string) => ({
  model,
  provider: 'fake',
  connection_id: null,
  reason,
})

test('an attempt before a failover has its reason; so has a skipped candidate', async () => {
  const members = ['fake/ok-dumb', 'fake/status-503-a', 'fake/ok']
  const name = await fixture.collection({ name: 'told', members })
  const tools = [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }]
  const dumb = passed('fake/ok-dumb', 'invalid_request')
  expect(await attemptsOf(await fixture.chat(name, { tools }))).toEqual([
    {
      model: 'fake/status-503-a',
      outcome: 'failed_over',
      reason: 'provider_error',
      requested_model: name,
      passed_over: [dumb],
    },
    { model: 'fake/ok', outcome: 'ok', reason: null, requested_model: name, passed_over: null },
  ])
  expect(await attemptsOf(await fixture.chat(name, { tools }))).toMatchObject([
    { model: 'fake/ok', passed_over: [dumb, passed('fake/status-503-a', 'cooling_down')] },
  ])
})

test('skips a connection that cannot be paid for', async () => {
  const poor = await fixture.rig.gateway.customer({}, { credit: 0 })
  await fixture.rig.model('ok-gratis', { is_free: true })
  const fields = { name: 'poor', members: ['fake/ok', 'fake/ok-gratis'] }
  await fixture.api('POST /user/model-collections', fields, poor)
  const [attempt] = await attemptsOf(await fixture.chat('collection/poor', {}, poor))
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

test('a request that fails at last reports its reason as its outcome', async () => {
  await fixture.rig.model('status-500-last')
  const [attempt] = await attemptsOf(await fixture.chat('fake/status-500-last'))
  expect(attempt).toMatchObject({ outcome: 'provider_error', reason: null })
})
