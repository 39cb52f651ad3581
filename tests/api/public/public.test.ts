import type { SQL } from 'bun'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { listIn, problem, fetchPublic } from '../catalogue/requests'
import { openDatabase } from '../../harness/database'
import { sendRequest } from '../../harness/http'
import { insertLogs, type LogRow } from './logged'
import { startGateway, type Gateway } from '../../harness/server'
import { eventually } from '../../../server/testing/eventually'

let gateway: Gateway
let connectionId: string

const secret = 'sk-public-canary-0123456789'

beforeAll(async () => {
  gateway = await startGateway()
  const { admin, recorder } = gateway
  recorder.canary(secret)
  // Tests of this file ask more than a visitor may.
  await admin('PUT', '/config', { rates: { public_requests_per_minute: 100_000 } })
  await admin('POST', '/providers', {
    key: 'fake',
    name: 'Fake',
    adapter: 'openai',
    base_url: 'http://10.1.2.3:8000',
    description: 'Made up.',
    website: 'https://fake.example',
  })
  const made = await admin('POST', '/connections', {
    name: 'ours',
    provider: 'fake',
    api_key: secret,
  })
  connectionId = String(made['id'])
  const model = { name: 'One', category: 'chat', pricing: { input: 1, output: 4 } }
  await admin('POST', '/models', { id: 'fake/one', ...model })
  await admin('POST', '/models', { id: 'fake/off', ...model, enabled: false })
  // Before the first request: answers are cached for seconds.
  await using sql = await openDatabase(gateway.dataDir)
  await fares(sql, 'shaky', [...of(4, 'success'), ...of(2, 'error')])
  await fares(sql, 'dead', of(4, 'error'))
  await insertLogs(
    sql,
    of(9, 'error').map((row) => ({ ...row, connection_id: 'conn_customers' })),
  )
})
afterAll(async () => {
  gateway.recorder.verify()
  await gateway[Symbol.asyncDispose]()
})

const of = (count: number, status: LogRow['status']): LogRow[] =>
  Array.from({ length: count }, () => ({ status }))

/** Makes a provider that the platform has a connection to, whose requests ended so. */
async function fares(sql: SQL, key: string, rows: readonly LogRow[]): Promise<void> {
  const base_url = 'https://fares.example'
  await gateway.admin('POST', '/providers', { key, name: key, adapter: 'openai', base_url })
  const connection = { name: key, provider: key, api_key: secret }
  const { id } = await gateway.admin('POST', '/connections', connection)
  await insertLogs(
    sql,
    rows.map((row) => ({ ...row, connection_id: String(id) })),
  )
}

const provider = async (key: string) =>
  listIn(await fetchPublic(gateway, '/providers'), 'providers').find((one) => one['key'] === key)

describe('GET /api/public/providers', () => {
  test('shows an operator’s own without its address, and others with theirs', async () => {
    expect(await provider('fake')).toEqual({
      id: expect.stringMatching(/^prov_[0-9a-hjkmnp-tv-z]{26}$/),
      key: 'fake',
      name: 'Fake',
      description: 'Made up.',
      website: 'https://fake.example',
      logo_url: null,
      endpoint_url: null,
      model_count: 1,
      supports_streaming: true,
      status: 'operational',
    })
    const known = await provider('openai')
    expect(known).toMatchObject({ name: 'OpenAI', status: 'operational' })
    expect(known?.['endpoint_url']).toStartWith('https://api.openai.com')
    expect(known?.['id']).toMatch(/^prov_[0-9a-hjkmnp-tv-z]{26}$/)
    expect((await provider('openai'))?.['id']).toBe(String(known?.['id']))
    const names = listIn(await fetchPublic(gateway, '/providers'), 'providers').map(({ name }) =>
      String(name).toLowerCase(),
    )
    expect(names).toEqual(names.toSorted())
  })
})

describe('a provider', () => {
  test('is judged by how the platform’s connections fared, and no customer’s', async () => {
    const statuses = [await provider('shaky'), await provider('dead'), await provider('openai')]
    expect(statuses.map((one) => one?.['status'])).toEqual(['degraded', 'down', 'operational'])
  })

  test('is down when all its keys are rejected', async () => {
    await using sql = await openDatabase(gateway.dataDir)
    await sql`update connection set status = 'error' where id = ${connectionId}`
    await eventually(async () => (await provider('fake'))?.['status'] === 'down')
    expect((await provider('openai'))?.['status']).toBe('operational')
  })
})

describe('GET /api/public/config', () => {
  test('shows the settings that a client needs before it has a key', async () => {
    const { status, body } = await fetchPublic(gateway, '/config')
    expect(status).toBe(200)
    expect(body).toEqual({
      name: 'Tollgate',
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      base_url: gateway.url,
      currency: 'USD',
      minimum_balance: 0.1,
      low_balance_threshold: 1,
      auth: {
        password: true,
        oauth_providers: [],
        identity_provider: null,
        sign_up: 'open',
      },
      features: expect.objectContaining({
        streaming: true,
        platform_connections: true,
        payments: false,
        email: false,
      }),
      limits: {
        request_timeout_seconds: 600,
        default_rpm: 60,
        default_tpm: 100_000,
        default_concurrent: 10,
      },
      alert_types: [
        'cost_threshold',
        'error_rate',
        'usage_spike',
        'quota_limit',
        'model_latency',
        'unusual_activity',
      ],
      alert_periods: ['hour', 'day', 'week', 'month'],
      notification_channels: ['email', 'dashboard'],
    })
    expect(Object.values(Object(body['features'])).every((is) => typeof is === 'boolean')).toBe(
      true,
    )
  })
})

describe('public endpoints', () => {
  const paths = [
    '/providers',
    '/config',
    '/branding',
    '/organizations',
    '/inference-servers',
    '/provider-profiles',
  ]

  test.each(paths)('%s answers every caller, with any key, from any origin', async (path) => {
    const headers = { authorization: 'Bearer nonsense', origin: 'https://somewhere.example' }
    const { status, headers: answered } = await sendRequest(gateway, {
      path: `/api/public${path}`,
      method: 'GET',
      headers,
    })
    expect(status).toBe(200)
    expect(answered.get('access-control-allow-origin')).toBe('*')
    expect(answered.get('x-ratelimit-limit')).toBe('100000')
  })

  test.each(['/organizations', '/inference-servers', '/provider-profiles'])(
    '%s is paged, with cursors of its own',
    async (path) => {
      expect(problem(await fetchPublic(gateway, `${path}?limit=0`))).toEqual([
        400,
        'limit',
        'out_of_range',
      ])
      expect(problem(await fetchPublic(gateway, `${path}?cursor=x`))).toEqual([
        400,
        'cursor',
        'bad_format',
      ])
    },
  )

  test('have a rate for each address', async () => {
    await gateway.admin('PUT', '/config', { rates: { public_requests_per_minute: 1 } })
    const answer = await fetchPublic(gateway, '/branding')
    expect([answer.status, answer.error.code]).toEqual([429, 'rate_limit_exceeded'])
    await gateway.admin('PUT', '/config', { rates: { public_requests_per_minute: 100_000 } })
  })
})
