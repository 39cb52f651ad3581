import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { sendOperatorRequest, problem } from '../../harness/operator'
import { newApiKey } from '../../../server/src/auth/api-key'
import { readConfig } from '../../../server/src/platform/config/config'
import { defaultSettings, toConfig } from '../../../server/src/platform/settings/stored-settings'
import { openDatabase } from '../../harness/database'
import { sendRequest as askModel, messages } from '../../harness/http'
import { eventually } from '../../../server/testing/eventually'
import { newDataDir, startGateway, startRig, type Customer, type Rig } from '../../harness/server'
import { recordTimeFigure } from '../../../server/testing/figures'

let rig: Rig

const environment = {
  MINIMUM_BALANCE_USD: '0.2',
  CONNECT_TIMEOUT_SECONDS: '2.5',
  FAILED_AUTHENTICATIONS_PER_MINUTE: '1000000',
}

beforeAll(async () => {
  rig = await startRig({ environment })
})
afterAll(async () => {
  rig.gateway.recorder.verify()
  await rig[Symbol.asyncDispose]()
})

/** The whole answer while nothing is set, by the table of settings. */
const initialAnswer = toConfig(defaultSettings(readConfig(environment)))

const get = async () => (await sendOperatorRequest(rig.gateway, 'GET /config')).body
const put = (body: object) => sendOperatorRequest(rig.gateway, 'PUT /config', body)

const chat = async ({ key }: Customer, name = 'ok') =>
  askModel(rig.gateway, { key, body: { model: await rig.model(name), messages, max_tokens: 256 } })

describe('the settings', () => {
  /** Defaults that operators rely on; a change of one is a change for them. */
  const initial = {
    minimum_balance: 0.2,
    warning_threshold: 1,
    platform_fee_percent: 0,
    platform_connections: true,
    owner_price_limits: { input: 1000, output: 1000 },
    sign_up: 'open',
    bare_model_names: false,
    log_bodies: false,
    unanswered_requests: 'charge',
    unpriced_models: 'refuse',
    catalog_public_key: null,
    rates: {
      api_requests_per_minute: 300,
      public_requests_per_minute: 60,
      failed_authentications_per_minute: 1_000_000,
      alert_tests_per_hour: 5,
      invitation_mails_per_day: 20,
    },
    timers: {
      request_seconds: 600,
      first_byte_seconds: 300,
      idle_seconds: 300,
      stream_seconds: 1800,
      connect_seconds: 2.5,
    },
    retention_days: 30,
    stored_megabytes_per_account: 256,
    allowed_return_origins: [],
    allowed_private_networks: [],
  }

  test('are the defaults of contract and environment, until some are set; others stay', async () => {
    expect(await get()).toEqual(initialAnswer)
    expect(initialAnswer).toMatchObject(initial)
    const some = {
      warning_threshold: 0.000000001,
      platform_fee_percent: 2.75,
      sign_up: 'closed',
      log_bodies: true,
      unanswered_requests: 'waive',
      owner_price_limits: { output: 0.5 },
      rates: { alert_tests_per_hour: 7 },
      timers: { idle_seconds: 0.5 },
      retention_days: 31,
      allowed_return_origins: ['https://app.example.com', 'http://localhost:5173'],
      allowed_private_networks: ['10.0.0.0/8', 'fd00::/8', '10.0.0.0/8'],
    }
    const changed = await put(some)
    const expected = {
      ...initialAnswer,
      ...some,
      owner_price_limits: { input: 1000, output: 0.5 },
      rates: { ...initial.rates, alert_tests_per_hour: 7 },
      timers: { ...initial.timers, idle_seconds: 0.5 },
      allowed_private_networks: ['10.0.0.0/8', 'fd00::/8'],
    }
    expect([changed.status, changed.body]).toEqual([200, expected])
    const more = await put({
      rates: { invitation_mails_per_day: 3 },
      timers: { idle_seconds: 300 },
    })
    expect(more.body).toEqual({
      ...expected,
      rates: { ...expected.rates, invitation_mails_per_day: 3 },
      timers: initial.timers,
    })
    expect(await get()).toEqual(more.body)
  })

  test.each([
    [{}, null, 'empty'],
    [{ colour: 'red' }, null, 'empty'],
    [{ minimum_balance: -0.1 }, 'minimum_balance', 'out_of_range'],
    [{ minimum_balance: '0.1' }, 'minimum_balance', 'wrong_type'],
    [{ minimum_balance: null }, 'minimum_balance', 'wrong_type'],
    [{ warning_threshold: 0.0000000001 }, 'warning_threshold', 'out_of_range'],
    [{ platform_fee_percent: 100.01 }, 'platform_fee_percent', 'out_of_range'],
    [{ platform_fee_percent: 1.234 }, 'platform_fee_percent', 'out_of_range'],
    [{ owner_price_limits: {} }, 'owner_price_limits', 'empty'],
    [{ owner_price_limits: { input: -1 } }, 'owner_price_limits.input', 'out_of_range'],
    [{ owner_price_limits: { output: 1_000_001 } }, 'owner_price_limits.output', 'out_of_range'],
    [{ platform_connections: 'yes' }, 'platform_connections', 'wrong_type'],
    [{ sign_up: 'never' }, 'sign_up', 'unknown_value'],
    [{ log_bodies: 1 }, 'log_bodies', 'wrong_type'],
    [{ unanswered_requests: 'free' }, 'unanswered_requests', 'unknown_value'],
    [{ rates: 5 }, 'rates', 'wrong_type'],
    [{ rates: {} }, 'rates', 'empty'],
    [{ timers: { colour: 1 } }, 'timers', 'empty'],
    [{ rates: { api_requests_per_minute: 0 } }, 'rates.api_requests_per_minute', 'out_of_range'],
    [{ rates: { api_requests_per_minute: null } }, 'rates.api_requests_per_minute', 'wrong_type'],
    [{ timers: { request_seconds: 0 } }, 'timers.request_seconds', 'out_of_range'],
    [{ timers: { request_seconds: 86_401 } }, 'timers.request_seconds', 'out_of_range'],
    [{ timers: { connect_seconds: 0.0005 } }, 'timers.connect_seconds', 'out_of_range'],
    [{ timers: { connect_seconds: 1.0005 } }, 'timers.connect_seconds', 'out_of_range'],
    [{ retention_days: 1 }, 'retention_days', 'out_of_range'],
    [{ retention_days: 2.5 }, 'retention_days', 'wrong_type'],
    [{ stored_megabytes_per_account: 127 }, 'stored_megabytes_per_account', 'out_of_range'],
    [{ allowed_return_origins: 'https://a.b' }, 'allowed_return_origins', 'wrong_type'],
    [{ allowed_return_origins: ['https://a.b/'] }, 'allowed_return_origins.0', 'bad_format'],
    [{ allowed_return_origins: ['javascript:x'] }, 'allowed_return_origins.0', 'bad_format'],
    [{ allowed_private_networks: ['10.0.0.0/33'] }, 'allowed_private_networks.0', 'bad_format'],
    [{ allowed_private_networks: [1] }, 'allowed_private_networks.0', 'wrong_type'],
    [
      { allowed_private_networks: Array.from({ length: 101 }, (_, n) => `10.0.${n}.0/24`) },
      'allowed_private_networks',
      'too_many',
    ],
  ])(
    '%j is rejected with param %p: %s, and nothing of it is stored',
    async (body, param, issue) => {
      const before = await get()
      expect(problem(await put({ ...body }))).toEqual([400, param, issue])
      if (Object.keys(body).length > 0 && param !== null)
        expect(problem(await put({ retention_days: 99, ...body }))).toEqual([400, param, issue])
      expect(await get()).toEqual(before)
    },
  )
})

/** The status of a request with an unknown key. */
const wrong = async () =>
  (await askModel(rig.gateway, { method: 'GET', path: '/v1/models', key: newApiKey() })).status

describe('each holds from the answer on', () => {
  test('minimum_balance', async () => {
    const customer = await rig.gateway.customer({}, { credit: 0.15 })
    const refused = await chat(customer)
    expect(refused.error.details).toEqual({ current_balance: 0.15, minimum_required: 0.2 })
    await put({ minimum_balance: 0.15 })
    // A refusal holds for a second.
    await eventually(async () => (await chat(customer)).status === 200)
    await put({ minimum_balance: 0.2 })
  })

  test('timers of plain requests and of streams', async () => {
    const customer = await rig.gateway.customer()
    await put({ timers: { request_seconds: 0.3, first_byte_seconds: 600 } })
    const plain = await recordTimeFigure(
      'a plain request of 0.3 s',
      { atLeast: 300, atMost: 2000 },
      () => chat(customer, 'held-first'),
    )
    expect([plain.status, plain.error.code]).toEqual([504, 'request_timeout'])
    await put({ timers: { request_seconds: 600, first_byte_seconds: 0.4 } })
    const body = { model: 'fake/held-first', messages, stream: true }
    const stream = await recordTimeFigure(
      'a first event of 0.4 s',
      { atLeast: 400, atMost: 2000 },
      () => askModel(rig.gateway, { key: customer.key, body }),
    )
    expect([stream.status, stream.error.code]).toEqual([504, 'request_timeout'])
    await put({ timers: { request_seconds: 120, first_byte_seconds: 60 } })
    expect((await chat(customer, 'slow-first-700')).status).toBe(200)
  })

  test('rates.failed_authentications_per_minute', async () => {
    expect(await wrong()).toBe(401)
    await put({ rates: { failed_authentications_per_minute: 1 } })
    expect(await wrong()).toBe(429)
    await put({ rates: { failed_authentications_per_minute: 1_000_000 } })
    expect(await wrong()).toBe(401)
  })

  test('platform_connections', async () => {
    const customer = await rig.gateway.customer()
    await put({ platform_connections: false })
    const refused = await chat(customer)
    expect([refused.status, refused.error.code]).toEqual([403, 'model_access_denied'])
    await put({ platform_connections: true })
    expect((await chat(customer)).status).toBe(200)
  })
})

test('stored settings survive a restart and win over the environment, and damaged ones are ignored', async () => {
  const dataDir = await newDataDir()
  {
    await using first = await startGateway({ dataDir, database: 'shared' })
    await sendOperatorRequest(first, 'PUT /config', {
      minimum_balance: 0.5,
      timers: { idle_seconds: 7 },
    })
    await using sql = await openDatabase(dataDir)
    await sql`update config set settings = settings || '{"signUp": "whoever"}'`
  }
  const environment = { MINIMUM_BALANCE_USD: '3', RETENTION_DAYS: '9', IDLE_TIMEOUT_SECONDS: '8' }
  await using second = await startGateway({ dataDir, database: 'shared', environment })
  expect((await sendOperatorRequest(second, 'GET /config')).body).toMatchObject({
    minimum_balance: 0.5,
    retention_days: 9,
    timers: { idle_seconds: 7 },
    sign_up: 'open',
  })
  await eventually(() => second.output().includes('the stored setting signUp is invalid'))
})
