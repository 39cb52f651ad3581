import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { call, listIn, problem } from '../catalogue/requests'
import { openDatabase } from '../../harness/database'
import { sendRequest, type Json } from '../../harness/http'
import { eventually } from '../../../server/testing/eventually'
import { startRig, type Customer, type Rig } from '../../harness/server'
import { sendSoon } from '../../harness/soon'
import { dayWaitMs, untilDayLasts } from '../../../server/testing/calendar'

let rig: Rig
/** One that costs enough to be seen. */
let model: string

beforeAll(async () => {
  await untilDayLasts()
  rig = await startRig()
  model = await rig.model('ok', { pricing: { input: 1000, output: 4000 } })
}, 60_000 + dayWaitMs)
afterAll(async () => {
  rig.gateway.recorder.verify()
  await rig[Symbol.asyncDispose]()
})

const api = (by: Pick<Customer, 'key'>, request: string, body?: Json) =>
  call(rig.gateway, by, request, body)

const chat = (key: string, name = model) =>
  sendRequest(rig.gateway, {
    key,
    body: { model: name, messages: [{ role: 'user', content: 'Hi' }] },
  })

const newOwner = (key: Json = {}) => rig.gateway.customer({ permissions: ['admin'], ...key })

async function newKey(by: Pick<Customer, 'key'>, fields: Json = {}) {
  const { status, text, body } = await api(by, 'POST /account/keys', { name: 'One', ...fields })
  if (status !== 201) throw new Error(text)
  return { id: String(body['id']), key: String(body['key']) }
}

const change = (by: Pick<Customer, 'key'>, id: string, fields: Json) =>
  api(by, `PATCH /account/keys/${id}`, fields)

describe('changing a key', () => {
  test('sets the fields that are sent, keeps the others, and takes a limit away with null', async () => {
    const owner = await newOwner()
    const { id } = await newKey(owner, { monthly_spend_limit: 5, max_concurrent_requests: 3 })
    const expires_at = new Date(Date.now() + 86_400_000).toISOString()
    const changed = await change(owner, id, {
      name: ' Search ',
      expires_at,
      rate_limit_requests_per_minute: 7,
      monthly_spend_limit: null,
      allowed_models: [model, model, 'fake/*'],
    })
    expect(changed.status).toBe(200)
    expect(changed.body).toMatchObject({
      id,
      name: 'Search',
      expires_at,
      rate_limit_requests_per_minute: 7,
      max_concurrent_requests: 3,
      monthly_spend_limit: null,
      allowed_models: [model, 'fake/*'],
      disabled: false,
    })
    const [listed] = listIn(await api(owner, 'GET /account/keys'), 'keys')
    expect(listed).toEqual({ ...changed.body, usage: expect.any(Object) })
    const freed = await change(owner, id, { allowed_models: null, expires_at: null })
    expect(freed.body).toMatchObject({ allowed_models: null, expires_at: null, name: 'Search' })
  })

  test.each<[Json, string | null, string]>([
    [{}, null, 'empty'],
    [{ name: '' }, 'name', 'too_short'],
    [{ rate_limit_tokens_per_minute: 0 }, 'rate_limit_tokens_per_minute', 'out_of_range'],
    [{ rate_limit_images_per_minute: 0 }, 'rate_limit_images_per_minute', 'out_of_range'],
    [{ expires_at: '2020-01-01T00:00:00Z' }, 'expires_at', 'out_of_range'],
    [{ allowed_models: [] }, 'allowed_models', 'empty'],
    [{ allowed_models: ['gpt-4o'] }, 'allowed_models.0', 'bad_format'],
    [{ allowed_models: ['fake/*', 'fake/gpt-*'] }, 'allowed_models.1', 'bad_format'],
    [{ denied_models: ['fake/gpt-*'] }, 'denied_models.0', 'bad_format'],
    [{ disabled: true, disabled_until: '2020-01-01' }, 'disabled_until', 'out_of_range'],
    [{ disabled_until: '2999-01-01' }, 'disabled_until', 'conflict'],
    [{ disabled: false, disabled_until: '2999-01-01' }, 'disabled_until', 'conflict'],
  ])('%j is rejected at %s: %s', async (fields, param, issue) => {
    const owner = await newOwner()
    expect(problem(await change(owner, owner.keyId, fields))).toEqual([400, param, issue])
  })

  test('a new limit applies to the next request', async () => {
    const owner = await newOwner()
    const { id, key } = await newKey(owner)
    expect((await chat(key)).status).toBe(200)
    await change(owner, id, { rate_limit_requests_per_minute: 1 })
    const codes = [await chat(key), await chat(key)].map(({ error }) => error?.code)
    expect(codes).toContain('rate_limit_exceeded')
    await change(owner, id, { rate_limit_requests_per_minute: null, monthly_spend_limit: 0 })
    expect((await chat(key)).error.code).toBe('insufficient_credits')
    await change(owner, id, { monthly_spend_limit: null })
    expect((await chat(key)).status).toBe(200)
  })

  test('keys of other accounts, and unknown ones, are 404 and stay as they are', async () => {
    const [owner, other] = [await newOwner(), await newOwner()]
    const { id, key } = await newKey(owner)
    for (const target of [id, 'key_x']) {
      const refused = await change(other, target, { disabled: true })
      expect(refused.error.code).toBe('resource_not_found')
    }
    expect((await chat(key)).status).toBe(200)
  })

  test('a key with limits of its own changes no key, itself included', async () => {
    const owner = await newOwner()
    const limits = [{ monthly_spend_limit: 5 }, { allowed_models: ['fake/*'] }]
    for (const limit of limits) {
      const limited = await newKey(owner, { permissions: ['admin'], ...limit })
      for (const id of [limited.id, owner.keyId]) {
        const fields = { monthly_spend_limit: null, allowed_models: null }
        const refused = await change({ key: limited.key }, id, fields)
        expect(problem(refused)).toEqual([400, null, 'not_allowed'])
      }
      const made = await api({ key: limited.key }, 'POST /account/keys', { name: 'Free' })
      expect(problem(made)).toEqual([400, null, 'not_allowed'])
    }
  })

  test('a key neither extends its own life, nor changes a key that outlives it', async () => {
    const owner = await newOwner()
    const short = await newKey(owner, { permissions: ['admin'], expires_in_days: 2 })
    const forever = await change(short, short.id, { expires_at: null })
    expect(problem(forever)).toEqual([400, 'expires_at', 'not_allowed'])
    const reader = await newKey(owner, { permissions: ['read'] })
    const raised = await change(short, reader.id, { permissions: ['admin'] })
    expect(problem(raised)).toEqual([400, null, 'not_allowed'])
    expect((await change(short, short.id, { name: 'Renamed' })).status).toBe(200)
  })
})

describe('a disabled key', () => {
  test('is invalid until it is enabled again, also for its cost-free requests', async () => {
    const owner = await newOwner()
    const { id, key } = await newKey(owner)
    expect((await chat(key)).status).toBe(200)
    const disabled = await change(owner, id, { disabled: true })
    expect(disabled.body).toMatchObject({ disabled: true, disabled_until: null })
    const refused = await chat(key)
    expect([refused.status, refused.error.code]).toEqual([401, 'invalid_api_key'])
    expect(refused.error.message).toContain('disabled')
    expect((await api({ key }, 'GET /organizations')).error.code).toBe('invalid_api_key')
    await change(owner, id, { name: 'Still disabled' })
    expect((await chat(key)).status).toBe(401)
    const enabled = await change(owner, id, { disabled: false })
    expect(enabled.body).toMatchObject({ disabled: false, disabled_until: null })
    expect((await chat(key)).status).toBe(200)
  })

  test('works again by itself when its pause is over', async () => {
    const owner = await newOwner()
    const { id, key } = await newKey(owner)
    const disabled_until = new Date(Date.now() + 86_400_000).toISOString()
    const paused = await change(owner, id, { disabled: true, disabled_until })
    expect(paused.body).toMatchObject({ disabled: true, disabled_until })
    expect((await chat(key)).status).toBe(401)
    await sendSoon(async (until) => {
      const { status, text } = await change(owner, id, { disabled: true, disabled_until: until })
      if (status !== 200) throw new Error(text)
    })
    await eventually(async () => (await chat(key)).status === 200)
    const [listed] = listIn(await api(owner, 'GET /account/keys'), 'keys')
    expect(listed).toMatchObject({ id, disabled: false, disabled_until: null })
  })
})

describe('a key with allowed models', () => {
  test('calls them alone, directly, by collection and by alias', async () => {
    const other = await rig.model('other')
    const owner = await newOwner()
    const { key } = await newKey(owner, { allowed_models: [model] })
    expect((await chat(key)).status).toBe(200)
    const refused = await chat(key, other)
    expect([refused.status, refused.error.code, refused.error.param]).toEqual([
      403,
      'model_access_denied',
      'model',
    ])
    await api(owner, 'POST /user/model-collections', {
      name: 'both',
      display_name: 'Both',
      members: [{ model_id: other }, { model_id: model }],
    })
    const answers = await Promise.all([1, 2, 3].map(() => chat(key, 'collection/both')))
    expect(answers.map(({ status, body }) => [status, body['model']])).toEqual(
      answers.map(() => [200, model]),
    )
    await api(owner, 'POST /user/model-mappings', { source_pattern: model, target_model: other })
    expect((await chat(key)).error.code).toBe('model_access_denied')
  })

  test('is shown the models that it may call', async () => {
    await rig.model('other')
    const owner = await newOwner()
    const { key } = await newKey(owner, { allowed_models: [model] })
    const { body } = await sendRequest(rig.gateway, { path: '/v1/models', method: 'GET', key })
    expect(JSON.stringify(body['data'])).toContain(model)
    expect(JSON.stringify(body['data'])).not.toContain('fake/other')
    const all = { path: '/v1/models?all=true', method: 'GET', key }
    const other = listIn(await sendRequest(rig.gateway, all), 'data').find(
      (one) => one['id'] === 'fake/other',
    )
    expect(other?.['unavailable']).toMatchObject({ reason: 'not_allowed_by_key' })
    const wide = await newKey(owner, { allowed_models: ['fake/*'] })
    expect((await chat(wide.key)).status).toBe(200)
    expect((await chat(wide.key, 'sandbox/echo')).error.code).toBe('model_access_denied')
  })
})

describe('the list of keys', () => {
  test('has the spending of each key, of the day and of the month, as the ledger booked it', async () => {
    const owner = await newOwner()
    const [one, two] = [await newKey(owner), await newKey(owner)]
    for (const key of [one.key, one.key, two.key]) expect((await chat(key)).status).toBe(200)
    const usageOf = async () =>
      Object.fromEntries(
        listIn(await api(owner, 'GET /account/keys'), 'keys').map((key) => [
          key['id'],
          key['usage'],
        ]),
      )
    await using sql = await openDatabase(rig.gateway.dataDir)
    const spentBy = async (id: string): Promise<{ events: number; usd: number }> => {
      const [row] = await sql`
        select count(*)::int as events, (coalesce(sum(cost), 0) / 1e9)::float as usd
        from usage_event where key_id = ${id}`
      return row
    }
    await eventually(async () => (await spentBy(one.id)).events === 2)
    await eventually(async () => (await spentBy(two.id)).events === 1)
    const usage = await usageOf()
    for (const { id } of [one, two]) {
      const { events, usd } = await spentBy(id)
      expect(usd).toBeGreaterThan(0)
      // A test that begins before midnight sees its requests in the month, and may see them on another day.
      expect(usage[id]).toMatchObject({ requests_this_month: events, spend_this_month: usd })
    }
    expect(usage[owner.keyId]).toEqual({
      spend_today: 0,
      spend_this_month: 0,
      requests_today: 0,
      requests_this_month: 0,
    })
  })
})
