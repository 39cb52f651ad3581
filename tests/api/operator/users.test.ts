import { accessListsWith } from '../../../server/testing/auth/access-lists'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { sendOperatorRequest, problem } from '../../harness/operator'
import { openDatabase } from '../../harness/database'
import { startGateway, type Gateway } from '../../harness/server'

let gateway: Gateway

beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(async () => {
  gateway.recorder.verify()
  await gateway[Symbol.asyncDispose]()
})

const newUser = async (email: string, fields: object = {}) =>
  String((await sendOperatorRequest(gateway, 'POST /users', { email, ...fields })).body['id'])

describe('accounts', () => {
  test('are made, read, changed, suspended and reinstated', async () => {
    const made = await sendOperatorRequest(gateway, 'POST /users', { email: 'Ada@Example.com' })
    expect(made.status).toBe(201)
    expect(made.body).toEqual({
      id: expect.stringMatching(/^user_[0-9a-hjkmnp-tv-z]{26}$/),
      user_id: made.body['id'],
      email: 'ada@example.com',
      display_name: 'ada',
      handle: null,
      plan: { id: made.body['plan_id'], name: 'free' },
      funding_source: 'personal',
      funding_organization_id: null,
      primary_organization_id: null,
      log_bodies: false,
      bare_model_names: null,
      auto_recharge: { enabled: false, threshold: 5, amount: 20 },
      payment_method_saved: false,
      status: 'active',
      suspended_reason: null,
      is_operator: false,
      operator_role: null,
      payment_method_required: false,
      blocked: false,
      blocked_reason: null,
      balance: 0,
      plan_id: expect.stringMatching(/^plan_[0-9a-hjkmnp-tv-z]{26}$/),
      limits: {},
      last_active_at: null,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      updated_at: expect.any(String),
    })
    const path = `/users/${String(made.body['id'])}`
    expect((await sendOperatorRequest(gateway, `GET ${path}`)).body).toEqual(made.body)
    const changed = await sendOperatorRequest(gateway, `PUT ${path}`, {
      display_name: '  Ada L.  ',
    })
    expect(changed.body).toMatchObject({ display_name: 'Ada L.', email: 'ada@example.com' })
    const suspended = await sendOperatorRequest(gateway, `POST ${path}/suspend`, { reason: 'test' })
    expect(suspended.status).toBe(200)
    expect(suspended.body).toMatchObject({ status: 'suspended', suspended_reason: 'test' })
    const back = await sendOperatorRequest(gateway, `POST ${path}/reinstate`)
    expect(back.body['status']).toBe('active')
  })

  test('are found by their state, their plan and their permissions', async () => {
    const plan = await sendOperatorRequest(gateway, 'POST /plans', { name: 'rare' })
    const planId = String(plan.body['id'])
    const kept = await newUser('kept@filter.example', { plan_id: planId })
    const stopped = await newUser('stopped@filter.example', { plan_id: planId })
    const chief = await newUser('chief@filter.example', { is_operator: true })
    await sendOperatorRequest(gateway, `POST /users/${stopped}/suspend`, { reason: 'test' })
    const idsOf = async (query: string) => {
      const { body } = await sendOperatorRequest(
        gateway,
        `GET /users?search=filter.example&${query}`,
      )
      return Array.isArray(body['users'])
        ? body['users'].map(({ id }) => String(id)).toSorted()
        : body
    }
    expect(await idsOf('status=active')).toEqual([kept, chief].toSorted())
    expect(await idsOf('status=suspended')).toEqual([stopped])
    expect(await idsOf(`plan_id=${planId}`)).toEqual([kept, stopped].toSorted())
    expect(await idsOf(`plan_id=${planId}&status=active`)).toEqual([kept])
    expect(await idsOf('plan_id=nothing')).toEqual([])
    expect(await idsOf('is_operator=true')).toEqual([chief])
    expect(await idsOf('is_operator=false')).toEqual([kept, stopped].toSorted())
    for (const name of ['status', 'is_operator']) {
      const refused = await sendOperatorRequest(gateway, `GET /users?${name}=maybe`)
      expect(problem(refused)).toEqual([400, name, 'unknown_value'])
    }
    const tooLong = await sendOperatorRequest(gateway, `GET /users?plan_id=${'x'.repeat(101)}`)
    expect(problem(tooLong)).toEqual([400, 'plan_id', 'too_long'])
  })

  test.each([
    [{}, 'email', 'required'],
    [{ email: 'no address' }, 'email', 'bad_format'],
    [{ email: 5 }, 'email', 'wrong_type'],
    [{ email: `${'a'.repeat(250)}@b.co` }, 'email', 'too_long'],
    [{ email: 'x@y.co', display_name: '   ' }, 'display_name', 'too_short'],
    [{ email: 'x@y.co', display_name: 'x'.repeat(101) }, 'display_name', 'too_long'],
    [{ email: 'x@y.co', is_operator: 'yes' }, 'is_operator', 'wrong_type'],
    [{ email: 'x@y.co', display_name: 'a\0b' }, 'display_name', 'bad_format'],
  ])('%j is rejected at %s: %s', async (body, param, issue) => {
    expect(problem(await sendOperatorRequest(gateway, 'POST /users', body))).toEqual([
      400,
      param,
      issue,
    ])
  })

  test('an address is taken in any case, also by a change', async () => {
    await newUser('taken@example.com')
    const again = await sendOperatorRequest(gateway, 'POST /users', { email: 'TAKEN@example.com' })
    expect(problem(again)).toEqual([400, 'email', 'taken'])
    const other = await newUser('other@example.com')
    const moved = await sendOperatorRequest(gateway, `PUT /users/${other}`, {
      email: 'taken@example.com',
    })
    expect(problem(moved)).toEqual([400, 'email', 'taken'])
  })

  test('a change without a known field is rejected, names of objects among them', async () => {
    const path = `PUT /users/${await newUser('empty@example.com')}`
    for (const body of [{}, { colour: 'red' }, { toString: 1, constructor: 2, valueOf: 3 }]) {
      expect(problem(await sendOperatorRequest(gateway, path, body))).toEqual([400, null, 'empty'])
    }
    expect(problem(await sendOperatorRequest(gateway, path, { display_name: null }))).toEqual([
      400,
      'display_name',
      'wrong_type',
    ])
  })

  test('A03: rejects a given id, status, balance or date', async () => {
    const extra = {
      id: 'user_00000000000000000000000000',
      status: 'suspended',
      balance: 1000,
      created_at: '2000-01-01T00:00:00.000Z',
      suspended_reason: 'x',
      last_active_at: '2000-01-01T00:00:00.000Z',
    }
    const made = await sendOperatorRequest(gateway, 'POST /users', {
      email: 'mass@example.com',
      ...extra,
    })
    expect(made.body['id']).not.toBe(extra.id)
    const changed = await sendOperatorRequest(gateway, `PUT /users/${String(made.body['id'])}`, {
      display_name: 'Mass',
      ...extra,
    })
    const { updated_at: _updated, ...kept } = made.body
    expect(changed.body).toMatchObject({ ...kept, display_name: 'Mass' })
    await using sql = await openDatabase(gateway.dataDir)
    const [row] = await sql`select status, suspended_reason, last_active_at from users
      where id = ${String(made.body['id'])}`
    expect(row).toEqual({ status: 'active', suspended_reason: null, last_active_at: null })
  })

  const absent = [
    'user_00000000000000000000000000',
    'user_1',
    'key_00000000000000000000000000',
    '%00',
    '%F0%9F%92%A9',
    "'%20or%20'1'='1",
    '..%2f..%2fusers',
    'a'.repeat(2000),
  ]
  test.each(absent)('A10: %s is not an account, for any request', async (id) => {
    const requests: [string, object?][] = [
      [`GET /users/${id}`],
      [`PUT /users/${id}`, { display_name: 'x' }],
      [`POST /users/${id}/suspend`, { reason: 'x' }],
      [`POST /users/${id}/reinstate`],
      [`GET /users/${id}/keys`],
      [`POST /users/${id}/keys`, { name: 'x' }],
      [`PUT /users/${id}/keys/${id}`, { name: 'x' }],
      [`DELETE /users/${id}/keys/${id}`],
    ]
    for (const [request, body] of requests) {
      const { status, error } = await sendOperatorRequest(gateway, request, body)
      expect([request, status, error?.code]).toEqual([request, 404, 'resource_not_found'])
    }
  })
})

describe('keys', () => {
  test('are shown once, and afterwards by their first characters only', async () => {
    const path = `/users/${await newUser('keys@example.com')}/keys`
    const made = await sendOperatorRequest(gateway, `POST ${path}`, { name: 'one' })
    const { key, message, ...rest } = made.body
    expect([made.status, typeof message]).toEqual([201, 'string'])
    expect(key).toMatch(/^sk-tg-[0-9A-Za-z]{49}$/)
    expect(rest).toEqual({
      id: expect.stringMatching(/^key_/),
      name: 'one',
      key_prefix: String(key).slice(0, 12),
      permissions: ['read', 'write'],
      expires_at: null,
      previous_secrets: [],
      last_used_at: null,
      last_used_address: null,
      rate_limit_requests_per_minute: null,
      rate_limit_tokens_per_minute: null,
      rate_limit_images_per_minute: null,
      rate_limit_audio_seconds_per_minute: null,
      max_concurrent_requests: null,
      monthly_spend_limit: null,
      ...accessListsWith({}),
      allowed_addresses: null,
      tags: [],
      disabled: false,
      disabled_until: null,
      created_at: expect.any(String),
    })
    gateway.recorder.canary(String(key))
    const { body: list } = await sendOperatorRequest(gateway, `GET ${path}`)
    expect(list).toEqual({ keys: [{ ...rest, usage: expect.any(Object) }] })
    const changed = await sendOperatorRequest(gateway, `PUT ${path}/${String(rest['id'])}`, {
      name: 'two',
      permissions: ['read', 'read'],
      monthly_spend_limit: 12.34,
      max_concurrent_requests: 3,
    })
    expect(changed.body).toEqual({
      ...rest,
      name: 'two',
      permissions: ['read'],
      monthly_spend_limit: 12.34,
      max_concurrent_requests: 3,
    })
    const at = `${path}/${String(rest['id'])}`
    const cleared = await sendOperatorRequest(gateway, `PUT ${at}`, { monthly_spend_limit: null })
    expect(cleared.body).toMatchObject({ monthly_spend_limit: null, max_concurrent_requests: 3 })
    const gone = await sendOperatorRequest(gateway, `DELETE ${at}`)
    expect(gone.body).toMatchObject({ success: true })
    expect((await sendOperatorRequest(gateway, `DELETE ${at}`)).status).toBe(404)
  })

  const past = '2001-01-01T00:00:00Z'
  test.each([
    [{}, 'name', 'required'],
    [{ name: 'x', permissions: [] }, 'permissions', 'empty'],
    [{ name: 'x', permissions: ['owner'] }, 'permissions.0', 'unknown_value'],
    [{ name: 'x', expires_at: past }, 'expires_at', 'out_of_range'],
    [{ name: 'x', expires_at: 'tomorrow' }, 'expires_at', 'bad_format'],
    [{ name: 'x', expires_in_days: 0 }, 'expires_in_days', 'out_of_range'],
    [{ name: 'x', expires_in_days: 3651 }, 'expires_in_days', 'out_of_range'],
    [{ name: 'x', expires_in_days: 1, expires_at: '2099-01-01' }, 'expires_in_days', 'conflict'],
    [{ name: 'x', max_concurrent_requests: 0 }, 'max_concurrent_requests', 'out_of_range'],
    [{ name: 'x', max_concurrent_requests: 1.5 }, 'max_concurrent_requests', 'wrong_type'],
    [{ name: 'x', monthly_spend_limit: 1.234 }, 'monthly_spend_limit', 'out_of_range'],
    [{ name: 'x', monthly_spend_limit: -1 }, 'monthly_spend_limit', 'out_of_range'],
  ])('%j is rejected at %s: %s', async (body, param, issue) => {
    const user = await newUser(`key-${crypto.randomUUID()}@example.com`)
    const refused = await sendOperatorRequest(gateway, `POST /users/${user}/keys`, body)
    expect(problem(refused)).toEqual([400, param, issue])
  })

  test('A01: from one account are 404 under another', async () => {
    const mine = await gateway.customer()
    const other = await gateway.customer()
    const path = `/users/${other.userId}/keys/${mine.keyId}`
    expect((await sendOperatorRequest(gateway, `PUT ${path}`, { name: 'x' })).status).toBe(404)
    expect((await sendOperatorRequest(gateway, `DELETE ${path}`)).status).toBe(404)
    const { body } = await sendOperatorRequest(gateway, `GET /users/${mine.userId}/keys`)
    expect(JSON.stringify(body)).toContain(mine.keyId)
  })

  test('A03: rejects a given secret, hash or owner', async () => {
    const user = await newUser('forge@example.com')
    const { body } = await sendOperatorRequest(gateway, `POST /users/${user}/keys`, {
      name: 'x',
      key: 'sk-tg-mine',
      hash: '00',
      id: 'key_00000000000000000000000000',
      user_id: 'user_00000000000000000000000000',
      key_prefix: 'mine',
    })
    expect(body['key']).not.toBe('sk-tg-mine')
    expect(body['id']).not.toBe('key_00000000000000000000000000')
  })

  test('an account has at most fifty', async () => {
    const user = await newUser('many@example.com')
    for (let count = 0; count < 50; count++) {
      const made = await sendOperatorRequest(gateway, `POST /users/${user}/keys`, {
        name: `${count}`,
      })
      expect(made.status).toBe(201)
    }
    const refused = await sendOperatorRequest(gateway, `POST /users/${user}/keys`, {
      name: 'one more',
    })
    expect(problem(refused)).toEqual([400, null, 'limit_reached'])
  })
})
