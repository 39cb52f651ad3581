import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { call, listIn, problem } from '../catalogue/requests'
import { accessListsWith } from '../../../server/testing/auth/access-lists'
import { openDatabase } from '../../harness/database'
import type { Json } from '../../harness/http'
import { startGateway, type Customer, type Gateway } from '../../harness/server'

let gateway: Gateway

beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(async () => {
  gateway.recorder.verify()
  await gateway[Symbol.asyncDispose]()
})

const api = (by: Pick<Customer, 'key'>, request: string, body?: Json) =>
  call(gateway, by, request, body)

const newCustomer = (key: Json = {}) =>
  gateway.customer({ permissions: ['admin'], ...key }, { credit: 0 })

const make = async (by: Customer, fields: Json = {}) => {
  const answer = await api(by, 'POST /account/keys', { name: 'Made', ...fields })
  if (answer.status !== 201) throw new Error(answer.text)
  return { id: String(answer.body['id']), key: String(answer.body['key']), answer }
}

const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString()

describe('a key', () => {
  test('is created with the given fields, and returns its secret once', async () => {
    const owner = await newCustomer()
    const expires_at = inDays(3)
    const { id, key, answer } = await make(owner, {
      name: '  Search  ',
      permissions: ['write', 'write', 'read'],
      expires_at,
      rate_limit_requests_per_minute: 5,
      rate_limit_tokens_per_minute: 500,
      rate_limit_images_per_minute: 4,
      rate_limit_audio_seconds_per_minute: 90,
      max_concurrent_requests: 2,
      monthly_spend_limit: 1.25,
    })
    const shown = {
      id: expect.stringMatching(/^key_[0-9a-hjkmnp-tv-z]{26}$/),
      name: 'Search',
      key_prefix: key.slice(0, 12),
      permissions: ['write', 'read'],
      expires_at,
      previous_secrets: [],
      last_used_at: null,
      last_used_address: null,
      rate_limit_requests_per_minute: 5,
      rate_limit_tokens_per_minute: 500,
      rate_limit_images_per_minute: 4,
      rate_limit_audio_seconds_per_minute: 90,
      max_concurrent_requests: 2,
      monthly_spend_limit: 1.25,
      ...accessListsWith({}),
      allowed_addresses: null,
      tags: [],
      disabled: false,
      disabled_until: null,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    }
    expect(answer.body).toEqual({ ...shown, key, message: expect.any(String) })
    expect(key).toMatch(/^sk-tg-[0-9A-Za-z]{49}$/)
    const list = await api(owner, 'GET /account/keys')
    expect(listIn(list, 'keys').map((one) => one['id'])).toEqual([id, owner.keyId])
    expect(listIn(list, 'keys')[0]).toEqual({ ...shown, usage: expect.any(Object) })
    expect(list.text).not.toContain(key)
    expect((await api({ key }, 'GET /organizations')).status).toBe(200)
  })

  test('has read and write, no limits and no expiry by default', async () => {
    const { answer } = await make(await newCustomer())
    expect(answer.body).toMatchObject({
      permissions: ['read', 'write'],
      expires_at: null,
      rate_limit_requests_per_minute: null,
      monthly_spend_limit: null,
    })
  })

  test.each<[Json, string, string]>([
    [{ name: undefined }, 'name', 'required'],
    [{ name: '  ' }, 'name', 'too_short'],
    [{ name: 'x'.repeat(101) }, 'name', 'too_long'],
    [{ permissions: [] }, 'permissions', 'empty'],
    [{ permissions: ['root'] }, 'permissions.0', 'unknown_value'],
    [{ expires_at: '2020-01-01T00:00:00Z' }, 'expires_at', 'out_of_range'],
    [{ expires_at: 'tomorrow' }, 'expires_at', 'bad_format'],
    [{ expires_in_days: 0 }, 'expires_in_days', 'out_of_range'],
    [{ expires_in_days: 3651 }, 'expires_in_days', 'out_of_range'],
    [{ expires_in_days: 1, expires_at: inDays(1) }, 'expires_in_days', 'conflict'],
    [{ rate_limit_requests_per_minute: 0 }, 'rate_limit_requests_per_minute', 'out_of_range'],
    [{ max_concurrent_requests: 1.5 }, 'max_concurrent_requests', 'wrong_type'],
    [{ monthly_spend_limit: -1 }, 'monthly_spend_limit', 'out_of_range'],
    [{ monthly_spend_limit: 1.005 }, 'monthly_spend_limit', 'out_of_range'],
  ])('%j is rejected at %s: %s', async (fields, param, issue) => {
    const answer = await api(await newCustomer(), 'POST /account/keys', { name: 'Made', ...fields })
    expect(problem(answer)).toEqual([400, param, issue])
  })

  test('creates no key that lives longer than itself', async () => {
    const short = await newCustomer({ expires_in_days: 7 })
    for (const fields of [{}, { expires_in_days: 8 }, { expires_at: inDays(8) }]) {
      const answer = await api(short, 'POST /account/keys', { name: 'Long', ...fields })
      expect(problem(answer)).toEqual([400, 'expires_at', 'not_allowed'])
    }
    await make(short, { expires_in_days: 6 })
    await make(await newCustomer({ expires_in_days: 7 }), { expires_at: inDays(6) })
  })

  test('an account has fifty at most, also under concurrent requests', async () => {
    const owner = await newCustomer()
    const answers = await Promise.all(
      Array.from({ length: 53 }, () => api(owner, 'POST /account/keys', { name: 'Many' })),
    )
    const refused = answers.filter(({ status }) => status !== 201)
    expect(refused.map(problem)).toEqual(
      Array.from({ length: 4 }, () => [400, null, 'limit_reached']),
    )
    expect(listIn(await api(owner, 'GET /account/keys'), 'keys')).toHaveLength(50)
  })
})

const atOnce = { overlap_seconds: 0 }

describe('rotating', () => {
  test('without an overlap gives another secret, and the old one stops at once', async () => {
    const owner = await newCustomer()
    const { id, key } = await make(owner, {
      name: 'Kept',
      permissions: ['read'],
      expires_in_days: 9,
    })
    expect((await api({ key }, 'GET /organizations')).status).toBe(200)
    const { status, body } = await api(owner, `POST /account/keys/${id}/rotate`, atOnce)
    const secret = String(body['key'])
    expect(status).toBe(200)
    expect(body).toEqual({
      id,
      key: expect.stringMatching(/^sk-tg-[0-9A-Za-z]{49}$/),
      key_prefix: secret.slice(0, 12),
      rotated_at: expect.stringMatching(/Z$/),
      previous_secrets: [],
    })
    expect((await api({ key }, 'GET /organizations')).error.code).toBe('invalid_api_key')
    expect((await api({ key: secret }, 'GET /organizations')).status).toBe(200)
    const [kept] = listIn(await api(owner, 'GET /account/keys'), 'keys')
    expect(kept).toMatchObject({ id, name: 'Kept', permissions: ['read'] })
    expect(kept?.['expires_at']).not.toBeNull()
  })

  test.each([
    { monthly_spend_limit: 0 },
    { monthly_spend_limit: 5 },
    { rate_limit_requests_per_minute: 50 },
    { rate_limit_tokens_per_minute: 500 },
    { rate_limit_images_per_minute: 4 },
    { rate_limit_audio_seconds_per_minute: 90 },
    { max_concurrent_requests: 2 },
  ])(
    'finding M13: a key with %j makes no key and rotates no other, however narrow',
    async (limit) => {
      const owner = await newCustomer()
      const limited = await make(owner, { permissions: ['admin'], ...limit })
      for (const fields of [{}, limit]) {
        const made = await api(limited, 'POST /account/keys', { name: 'Made', ...fields })
        expect(problem(made)).toEqual([400, null, 'not_allowed'])
        expect(made.error.message).toContain('has its own limits')
      }
      const other = await api(limited, `POST /account/keys/${owner.keyId}/rotate`)
      expect(other.status).toBe(400)
      expect((await api(owner, 'GET /account/keys')).status).toBe(200)
      const own = await api(limited, `POST /account/keys/${limited.id}/rotate`)
      expect(own.status).toBe(200)
    },
  )

  test('a key may rotate itself, but no longer-lived key', async () => {
    const owner = await newCustomer()
    const short = await make(owner, { permissions: ['admin'], expires_in_days: 2 })
    const asShort = { key: short.key }
    const other = await api(asShort, `POST /account/keys/${owner.keyId}/rotate`)
    expect(problem(other)).toEqual([400, null, 'not_allowed'])
    const own = await api(asShort, `POST /account/keys/${short.id}/rotate`, atOnce)
    expect(own.status).toBe(200)
    expect((await api(asShort, 'GET /account/keys')).status).toBe(401)
  })

  test('an expired key stays as it is', async () => {
    const owner = await newCustomer()
    const { id } = await make(owner)
    await using sql = await openDatabase(gateway.dataDir)
    await sql`update api_key set expires_at = now() - interval '1 second' where id = ${id}`
    expect(problem(await api(owner, `POST /account/keys/${id}/rotate`))).toEqual([
      400,
      null,
      'wrong_state',
    ])
    expect(listIn(await api(owner, 'GET /account/keys'), 'keys')[0]?.['id']).toBe(id)
  })
})

describe('deleting', () => {
  test('stops a key at once, also the requesting one', async () => {
    const owner = await newCustomer()
    const { id, key } = await make(owner)
    expect((await api({ key }, 'GET /organizations')).status).toBe(200)
    expect((await api(owner, `DELETE /account/keys/${id}`)).body).toEqual({
      success: true,
      message: expect.any(String),
    })
    expect((await api({ key }, 'GET /organizations')).error.code).toBe('invalid_api_key')
    expect((await api(owner, `DELETE /account/keys/${id}`)).status).toBe(404)
    expect((await api(owner, `DELETE /account/keys/${owner.keyId}`)).status).toBe(200)
    expect((await api(owner, 'GET /account/keys')).status).toBe(401)
  })
})

describe('keys are', () => {
  test('keys of another account are 404', async () => {
    const owner = await newCustomer()
    const other = await newCustomer()
    const requests = [
      `DELETE /account/keys/${owner.keyId}`,
      `POST /account/keys/${owner.keyId}/rotate`,
    ]
    for (const request of [...requests, 'DELETE /account/keys/key_x']) {
      expect((await api(other, request)).error.code).toBe('resource_not_found')
    }
    expect((await api(owner, 'GET /account/keys')).status).toBe(200)
  })

  test('for keys with the permission admin alone', async () => {
    const plain = await gateway.customer({ permissions: ['read', 'write'] }, { credit: 0 })
    const one = `/account/keys/${plain.keyId}`
    for (const request of [
      'GET /account/keys',
      'POST /account/keys',
      `DELETE ${one}`,
      `PATCH ${one}`,
      `POST ${one}/rotate`,
    ]) {
      const { status, error } = await api(plain, request)
      expect([status, error.code, error.details]).toEqual([
        403,
        'insufficient_permissions',
        { required: ['admin'], current: ['read', 'write'] },
      ])
    }
  })
})
