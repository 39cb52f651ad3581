import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { createFixture, type Fixture } from './fixture'
import {
  allowLoopback,
  completion,
  startUpstream,
  upstreamEnvironment,
  type Upstream,
} from '../../harness/byok'
import { sendRequest, type Json } from '../../harness/http'
import { findBookedOnce, reportedCost } from '../../harness/ledger'
import { readLog } from '../../harness/request-log'
import type { Customer } from '../../harness/server'

/** The model that is checked, held, charged and logged is the one that is called. */

const [cheap, dear] = ['fake/ok', 'fake/ok-dear'] as const
/** USD for a million tokens: a token of the dear one costs more than the account has. */
const [cheapUsd, dearUsd] = [1, 1_000_000]

let fixture: Fixture
let own: Upstream
/** May call the cheap one only, with credit for that alone. */
let narrow: Customer
/** Has no budget for the cheap one. */
let without: Customer

beforeAll(async () => {
  own = startUpstream()
  fixture = await createFixture(upstreamEnvironment(own))
  await allowLoopback(fixture.rig.gateway)
  for (const [name, usd] of [
    ['ok', cheapUsd],
    ['ok-dear', dearUsd],
  ] as const) {
    await fixture.rig.model(name, { pricing: { input: usd, output: usd } })
  }
  narrow = await fixture.rig.gateway.customer({ allowed_models: [cheap] }, { credit: 0.5 })
  without = await fixture.rig.gateway.customer({ permissions: ['read', 'write', 'admin'] })
  const none = { name: 'None', unit: 'requests', amount: 0, window: 'day', models: [cheap] }
  await fixture.api('POST /account/budgets', none, without)
  for (const [source_pattern, target_model] of [
    ['to-cheap', cheap],
    ['to-dear', dear],
  ]) {
    for (const by of [narrow, without])
      await fixture.api('POST /user/model-mappings', { source_pattern, target_model }, by)
  }
})
afterAll(async () => {
  await fixture[Symbol.asyncDispose]()
  await own[Symbol.asyncDispose]()
})
beforeEach(() => fixture.rig.upstream.reset())

const prompts: Record<string, Json> = {
  '/v1/chat/completions': { messages: [{ role: 'user', content: 'Hi' }] },
  '/v1/messages': { messages: [{ role: 'user', content: 'Hi' }], max_tokens: 50 },
  '/v1/responses': { input: 'Hi' },
  '/v1/completions': { prompt: 'Hi' },
}

/** Ways to name another model beside the one that is checked, each as a body of JSON. */
const disguises: [string, (prompt: Json) => { query?: string; text: string }][] = [
  ['in the query', (body) => ({ query: `?model=${dear}`, text: toText(cheap, body) })],
  [
    'in an earlier field of the same name',
    (body) => ({ text: `{"model":"${dear}",${toText(cheap, body).slice(1)}` }),
  ],
  [
    'in extra_body',
    (body) => ({ text: toText(cheap, { ...body, extra_body: { model: dear, models: [dear] } }) }),
  ],
  ['as a fallback', (body) => ({ text: toText(cheap, { ...body, models: [dear] }) })],
  ['before an allowed one', (body) => ({ text: toText(dear, { ...body, models: [cheap] }) })],
  [
    'as a fallback in fallbacks',
    (body) => ({ text: toText(cheap, { ...body, fallbacks: [dear] }) }),
  ],
  ['as an alias of the account', (body) => ({ text: toText('to-cheap', body) })],
  ['as an alias of the catalogue', (body) => ({ text: toText(`${cheap}-latest`, body) })],
]

const toText = (model: string, body: Json) => JSON.stringify({ model, ...body })

test.each(disguises)(
  'a model without budget is not called with another one %s',
  async (_where, disguise) => {
    const { query = '', text } = disguise({ messages: [{ role: 'user', content: 'Hi' }] })
    const { gateway, upstream } = fixture.rig
    const path = `/v1/chat/completions${query}`
    const { status, error } = await sendRequest(gateway, { path, key: without.key, body: text })
    const called = upstream.requests().map(({ model }) => model)
    // A fallback is called in its place.
    if (status === 200) expect(called).toEqual(['ok-dear'])
    else expect([called, Object(error.details?.['budget'])['name']]).toEqual([[], 'None'])
  },
)

describe.each(Object.entries(prompts))(
  '%s calls the model that it is charged for',
  (path, prompt) => {
    test.each(disguises)('with another one %s', async (_where, disguise) => {
      const { query = '', text } = disguise(prompt)
      const { rig, sql } = fixture
      const options = { path: `${path}${query}`, key: narrow.key, body: text }
      const answer = await sendRequest(rig.gateway, options)
      expect([answer.status, answer.error]).toEqual([200, {}])
      const [called, ...others] = rig.upstream.requests()
      expect([called?.model, others]).toEqual(['ok', []])
      expect(JSON.stringify(called?.body)).not.toContain('ok-dear')
      const booked = await findBookedOnce(sql, answer)
      const price = BigInt(cheapUsd * 1000)
      expect(booked.cost).toBe(BigInt(booked.inputTokens + booked.outputTokens) * price)
      expect(reportedCost(answer)).toBe(booked.cost)
      const log = await readLog(rig.gateway, narrow, answer)
      expect(log['model']).toBe(cheap)
    })

    test.each<[string, (body: Json) => string]>([
      [
        'in a later field of the same name',
        (body) => `${toText(cheap, body).slice(0, -1)},"model":"${dear}"}`,
      ],
      ['as an alias of the account', (body) => toText('to-dear', body)],
      ['as an alias of the catalogue', (body) => toText(`${dear}-latest`, body)],
      ['as a dated version', (body) => toText(`${dear}-2026-01-31`, body)],
    ])('another model is rejected %s', async (_where, toBody) => {
      const options = { path, key: narrow.key, body: toBody(prompt) }
      const answer = await sendRequest(fixture.rig.gateway, options)
      expect([answer.status, answer.text]).toEqual([
        403,
        expect.stringContaining('its allowed_models'),
      ])
      expect(fixture.rig.upstream.requests()).toEqual([])
    })
  },
)

test('a gateway behind an own connection receives the name of no other model', async () => {
  const { rig, api } = fixture
  const customer = await rig.gateway.customer({ permissions: ['admin'] })
  const connection = {
    name: 'Mine',
    provider: 'fake',
    api_key: 'sk-fake-0123456789',
    endpoint_url: own.url,
  }
  const made = await api('POST /connections', connection, customer)
  expect([made.status, made.text]).toEqual([201, expect.any(String)])
  const listed = await api(
    'POST /account/keys',
    { name: 'Listed', allowed_models: [cheap] },
    customer,
  )
  const body = {
    ...prompts['/v1/chat/completions'],
    model: cheap,
    extra_body: { model: dear, fallbacks: [dear], google: { a: 1 } },
    fallbacks: [dear],
  }
  own.answer = () => completion()
  const answer = await sendRequest(rig.gateway, { key: String(listed.body['key']), body })
  expect(answer.status).toBe(200)
  const [called] = own.requests.slice(-1)
  expect(called?.body).toMatchObject({ model: 'ok', extra_body: { google: { a: 1 } } })
  expect(JSON.stringify(called?.body)).not.toContain('ok-dear')
  expect(answer.headers.get('x-tollgate-omitted')?.split(/, ?/)).toEqual(
    expect.arrayContaining(['fallbacks', 'extra_body.model', 'extra_body.fallbacks']),
  )
})
