import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { listIn } from './stage'
import { call, idIn, problem } from '../connections/stage'
import { openDatabase } from '../database'
import { ask, type Json } from '../faults/asking'
import { startGateway, type Customer, type Gateway } from '../rig'

let gateway: Gateway
let customer: Customer
let stranger: Customer

beforeAll(async () => {
  // Looks at nothing while the tests run, and has no mail server.
  gateway = await startGateway({ environment: { ALERT_SECONDS: '3600', MAIL_SECONDS: '0.1' } })
  customer = await gateway.customer()
  stranger = await gateway.customer()
})
afterAll(() => gateway[Symbol.asyncDispose]())
afterEach(() => gateway.recorder.verify())

const api = (request: string, body?: Json, by = customer) => call(gateway, by, request, body)

const fields = (more: Json = {}): Json => ({
  name: 'Cost',
  type: 'cost_threshold',
  threshold: 10,
  ...more,
})

const made = async (more: Json = {}, by = customer) =>
  idIn(await api('POST /account/alerts', fields(more), by))

const nobody = 'alert_00000000000000000000000000'

describe('is refused', () => {
  test.each<[Json, string, string]>([
    [{ name: undefined }, 'name', 'required'],
    [{ name: ' ' }, 'name', 'too_short'],
    [{ name: 'x'.repeat(201) }, 'name', 'too_long'],
    [{ type: undefined }, 'type', 'required'],
    [{ type: 'cost' }, 'type', 'unknown_value'],
    [{ threshold: undefined }, 'threshold', 'required'],
    [{ threshold: undefined, type: 'unusual_activity' }, 'threshold', 'required'],
    [{ threshold: '1' }, 'threshold', 'wrong_type'],
    [{ threshold: -1 }, 'threshold', 'out_of_range'],
    [{ threshold: 1e12 + 1 }, 'threshold', 'out_of_range'],
    [{ threshold: 101, type: 'error_rate' }, 'threshold', 'out_of_range'],
    [{ threshold: 100.5, type: 'quota_limit' }, 'threshold', 'out_of_range'],
    [{ period: 'year' }, 'period', 'unknown_value'],
    [{ enabled: 1 }, 'enabled', 'wrong_type'],
    [{ notification_channels: 'email' }, 'notification_channels', 'wrong_type'],
    [{ notification_channels: ['email', 'sms'] }, 'notification_channels.1', 'unknown_value'],
    [{ description: 'x'.repeat(501) }, 'description', 'too_long'],
    [{ min_requests: 0, type: 'error_rate' }, 'min_requests', 'out_of_range'],
    [{ min_requests: 1.5, type: 'error_rate' }, 'min_requests', 'wrong_type'],
    [{ min_requests: 1_000_001, type: 'error_rate' }, 'min_requests', 'out_of_range'],
  ])('%j: %p, %p', async (wrong, param, issue) => {
    const answer = await api('POST /account/alerts', fields(wrong))
    expect(problem(answer)).toEqual([400, param, issue])
  })

  test('a change that has nothing, or does not fit what stays', async () => {
    const id = await made({ threshold: 500 })
    const change = async (body: Json) => problem(await api(`PUT /account/alerts/${id}`, body))
    expect(await change({})).toEqual([400, null, 'empty'])
    expect(await change({ colour: 'red' })).toEqual([400, null, 'empty'])
    expect(await change({ type: 'error_rate' })).toEqual([400, 'threshold', 'out_of_range'])
    expect(await change({ name: null })).toEqual([400, 'name', 'wrong_type'])
    expect(await change({ notification_channels: ['post'] })).toEqual([
      400,
      'notification_channels.0',
      'unknown_value',
    ])
  })

  test('a list with filters and pages that are none', async () => {
    const list = async (query: string) => problem(await api(`GET /account/alerts?${query}`))
    expect(await list('type=cost')).toEqual([400, 'type', 'unknown_value'])
    expect(await list('enabled=yes')).toEqual([400, 'enabled', 'unknown_value'])
    expect(await list('limit=0')).toEqual([400, 'limit', 'out_of_range'])
    expect(await list('cursor=x')).toEqual([400, 'cursor', 'bad_format'])
  })
})

describe('an alert', () => {
  test('that is made has the defaults, and only what the contract shows', async () => {
    const { status, body } = await api('POST /account/alerts', fields())
    expect(status).toBe(201)
    expect(body).toEqual({
      id: expect.stringMatching(/^alert_[0-9a-hjkmnp-tv-z]{26}$/),
      name: 'Cost',
      type: 'cost_threshold',
      threshold: 10,
      period: 'day',
      enabled: true,
      notification_channels: ['email', 'dashboard'],
      description: null,
      min_requests: null,
      created_at: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
    })
    const got = await api(`GET /account/alerts/${String(body['id'])}`)
    expect(got.body).toEqual({
      ...body,
      trigger_count: 0,
      last_triggered_at: null,
      recent_triggers: [],
      updated_at: body['created_at'],
    })
  })

  test('drops what repeats and what its type does not use', async () => {
    const channels = ['dashboard', 'dashboard', 'email', 'dashboard']
    const one = await api(
      'POST /account/alerts',
      fields({ notification_channels: channels, min_requests: 5, description: null, period: null }),
    )
    expect(one.body).toMatchObject({
      notification_channels: ['email', 'dashboard'],
      min_requests: null,
      period: 'day',
    })
    const none = await api('POST /account/alerts', fields({ notification_channels: [] }))
    expect(none.body).toMatchObject({ notification_channels: [] })
  })

  test('counts ten requests for errors and one for latency, unless told otherwise', async () => {
    const id = await made({ type: 'error_rate' })
    const change = async (body: Json) =>
      (await api(`PUT /account/alerts/${id}`, body)).body['min_requests']
    expect(await change({ enabled: true })).toBe(10)
    expect(await change({ type: 'model_latency' })).toBe(1)
    expect(await change({ min_requests: 7 })).toBe(7)
    expect(await change({ type: 'usage_spike' })).toBe(null)
    expect(await change({ type: 'error_rate' })).toBe(10)
    expect(await change({ min_requests: 7 })).toBe(7)
    expect(await change({ min_requests: null })).toBe(10)
  })

  test('is changed field by field', async () => {
    const id = await made({ description: 'What for' })
    const before = (await api(`GET /account/alerts/${id}`)).body
    const change = { name: ' Less ', threshold: 0, period: 'hour', enabled: false }
    const { status, body } = await api(`PUT /account/alerts/${id}`, change)
    expect(status).toBe(200)
    expect(body).toEqual({
      ...before,
      ...change,
      name: 'Less',
      updated_at: expect.any(String),
    })
    const cleared = await api(`PUT /account/alerts/${id}`, { description: null })
    expect(cleared.body['description']).toBeNull()
  })

  test('that is deleted is gone', async () => {
    const id = await made()
    const { status, body } = await api(`DELETE /account/alerts/${id}`)
    expect([status, body['success']]).toEqual([200, true])
    expect((await api(`GET /account/alerts/${id}`)).status).toBe(404)
    expect((await api(`DELETE /account/alerts/${id}`)).status).toBe(404)
  })

  test('of another account, or none, is not there', async () => {
    const id = await made()
    const absent = async (request: string, body?: Json) => {
      const foreign = await api(request.replace('{id}', id), body, stranger)
      const unknown = await api(request.replace('{id}', nobody), body)
      const malformed = await api(request.replace('{id}', 'x'), body)
      return [foreign, unknown, malformed].map(({ status, error }) => [status, error.code])
    }
    const none = Array.from({ length: 3 }, () => [404, 'resource_not_found'])
    expect(await absent('GET /account/alerts/{id}')).toEqual(none)
    expect(await absent('PUT /account/alerts/{id}', { name: 'Mine' })).toEqual(none)
    expect(await absent('DELETE /account/alerts/{id}')).toEqual(none)
    expect(await absent('POST /account/alerts/{id}/test')).toEqual(none)
    expect(
      await absent('POST /account/alerts/{id}/triggers/trg_00000000000000000000000000/acknowledge'),
    ).toEqual(none)
    expect((await api(`GET /account/alerts/${id}`)).body['name']).toBe('Cost')
  })
})

test('lists are newest first, all without a limit, and by type and state', async () => {
  const own = await gateway.customer()
  const ids: string[] = []
  for (const type of ['error_rate', 'cost_threshold', 'error_rate']) {
    ids.unshift(await made({ type, enabled: ids.length > 0 }, own))
  }
  const list = async (query = '') => {
    const answer = await api(`GET /account/alerts${query}`, undefined, own)
    return { ...answer, ids: listIn(answer, 'alerts').map(({ id }) => id) }
  }
  const all = await list()
  expect(all.ids).toEqual(ids)
  expect(all.body['pagination']).toMatchObject({ total: 3, limit: 100, has_more: false })
  const [listed] = listIn(all, 'alerts')
  expect(Object.keys(listed ?? {}).toSorted()).toEqual([
    'created_at',
    'description',
    'enabled',
    'id',
    'last_triggered_at',
    'min_requests',
    'name',
    'notification_channels',
    'period',
    'threshold',
    'trigger_count',
    'type',
  ])
  expect((await list('?type=error_rate')).ids).toEqual([ids[0], ids[2]])
  expect((await list('?enabled=false')).ids).toEqual([ids[2]])
  expect((await list('?limit=2&offset=1')).ids).toEqual(ids.slice(1))
  const { body } = await list('?limit=2')
  const next: unknown = Reflect.get(Object(body['pagination']), 'next_cursor')
  expect((await list(`?limit=2&cursor=${String(next)}`)).ids).toEqual([ids[2]])
})

test('an account has at most a hundred, also when they are asked for at once', async () => {
  const own = await gateway.customer()
  const answers = await Promise.all(
    Array.from({ length: 105 }, () => api('POST /account/alerts', fields(), own)),
  )
  const refused = answers.filter(({ status }) => status !== 201)
  expect(refused.map(problem)).toEqual(
    Array.from({ length: 5 }, () => [400, null, 'limit_reached']),
  )
})

test('reading needs read, everything else write', async () => {
  const id = await made()
  const reader = await gateway.customer({ permissions: ['read'] })
  const writer = await gateway.customer({ permissions: ['write'] })
  const refused = [403, 'insufficient_permissions']
  const as = async (by: Customer, request: string, body?: Json) => {
    const { status, error } = await api(request, body, by)
    return [status, error.code]
  }
  expect(await as(writer, 'GET /account/alerts')).toEqual(refused)
  expect(await as(writer, `GET /account/alerts/${id}`)).toEqual(refused)
  expect(await as(writer, 'GET /account/notifications')).toEqual(refused)
  expect(await as(reader, 'POST /account/alerts', fields())).toEqual(refused)
  expect(await as(reader, `PUT /account/alerts/${id}`, { name: 'x' })).toEqual(refused)
  expect(await as(reader, `DELETE /account/alerts/${id}`)).toEqual(refused)
  expect(await as(reader, `POST /account/alerts/${id}/test`)).toEqual(refused)
  expect(await as(reader, `POST /account/alerts/${id}/triggers/x/acknowledge`)).toEqual(refused)
  expect(await as(reader, 'POST /account/notifications/read-all')).toEqual(refused)
  expect(await as(reader, `POST /account/notifications/${id}/read`)).toEqual(refused)
  const nameless = await ask(gateway, { path: '/api/account/alerts', method: 'GET' })
  expect(nameless.status).toBe(401)
})

test('J05: a test says which channels it reached, five times an hour', async () => {
  const own = await gateway.customer()
  const id = await made({ enabled: false }, own)
  const first = await api(`POST /account/alerts/${id}/test`, undefined, own)
  expect([first.status, first.body]).toEqual([
    200,
    {
      success: false,
      message: 'E-mail is not set up on this server. A test notification was sent: dashboard.',
      channels: ['dashboard'],
    },
  ])
  await api(`PUT /account/alerts/${id}`, { notification_channels: ['dashboard'] }, own)
  // What is not there does not count.
  await api(`POST /account/alerts/${nobody}/test`, undefined, own)
  const others = await Promise.all(
    Array.from({ length: 7 }, () => api(`POST /account/alerts/${id}/test`, undefined, own)),
  )
  const passed = others.filter(({ status }) => status === 200)
  expect(passed.map(({ body }) => [body['success'], body['channels']])).toEqual(
    Array.from({ length: 4 }, () => [true, ['dashboard']]),
  )
  const [refused] = others.filter(({ status }) => status !== 200)
  expect(refused).toMatchObject({
    status: 429,
    error: { code: 'rate_limit_exceeded', details: { limit: 5, window: 3600 } },
  })
  const retryAfter = Number(refused?.headers.get('retry-after'))
  expect(retryAfter).toBeGreaterThan(3000)
  expect(refused?.error.details?.['retry_after']).toBe(retryAfter)
  const { body } = await api(`GET /account/alerts/${id}`, undefined, own)
  expect(body).toMatchObject({ trigger_count: 0, last_triggered_at: null, recent_triggers: [] })
  const inbox = await api('GET /account/notifications?kind=alert_test', undefined, own)
  expect(inbox.body).toMatchObject({ unread_count: 5 })
  expect(listIn(inbox, 'notifications')[0]).toMatchObject({
    kind: 'alert_test',
    title: 'Test of the alert: Cost',
    alert_id: id,
    trigger_id: null,
  })
})

describe('the inbox', () => {
  test('shows what is unread, counts it, and marks it as read', async () => {
    const own = await gateway.customer()
    const id = await made({ notification_channels: ['dashboard'] }, own)
    for (let turn = 0; turn < 3; turn++) {
      await api(`POST /account/alerts/${id}/test`, undefined, own)
    }
    const list = (query = '') => api(`GET /account/notifications${query}`, undefined, own)
    const [newest, ...older] = listIn(await list(), 'notifications')
    const noticeId = String(newest?.['id'])
    expect(older).toHaveLength(2)
    const read = () => api(`POST /account/notifications/${noticeId}/read`, undefined, own)
    const first = await read()
    expect(first.body).toEqual({ ...newest, read_at: expect.stringMatching(/Z$/) })
    expect((await read()).body).toEqual(first.body)
    const unread = await list('?unread=true')
    expect(listIn(unread, 'notifications')).toEqual(older)
    expect(unread.body['unread_count']).toBe(2)
    expect(listIn(await list('?unread=false'), 'notifications')).toEqual([first.body])
    expect(listIn(await list('?kind=system'), 'notifications')).toEqual([])
    expect((await list('?limit=1')).body['pagination']).toMatchObject({ total: 3, has_more: true })
    const readAll = () => api('POST /account/notifications/read-all', undefined, own)
    expect((await readAll()).body).toMatchObject({ success: true, updated: 2 })
    expect((await readAll()).body).toMatchObject({ success: true, updated: 0 })
    expect((await list()).body['unread_count']).toBe(0)
  })

  test('is one account’s own', async () => {
    const own = await gateway.customer()
    const id = await made({ notification_channels: ['dashboard'] }, own)
    await api(`POST /account/alerts/${id}/test`, undefined, own)
    const [notice] = listIn(
      await api('GET /account/notifications', undefined, own),
      'notifications',
    )
    const read = `POST /account/notifications/${String(notice?.['id'])}/read`
    expect((await api(read, undefined, stranger)).status).toBe(404)
    expect((await api('POST /account/notifications/x/read')).status).toBe(404)
    await api('POST /account/notifications/read-all', undefined, stranger)
    const { body } = await api('GET /account/notifications', undefined, own)
    expect(body['unread_count']).toBe(1)
  })

  test('refuses filters that are none', async () => {
    const list = async (query: string) => problem(await api(`GET /account/notifications?${query}`))
    expect(await list('kind=news')).toEqual([400, 'kind', 'unknown_value'])
    expect(await list('unread=1')).toEqual([400, 'unread', 'unknown_value'])
  })
})

test('a trigger belongs to its alert', async () => {
  const id = await made()
  const other = await made()
  await using sql = await openDatabase(gateway.dataDir)
  const triggerId = 'trg_01hzzzzzzzzzzzzzzzzzzzzzzz'
  await sql`
    insert into alert_trigger (id, alert_id, triggered_at, value) values (${triggerId}, ${id}, now(), 1)`
  const acknowledge = (alertId: string, by = customer) =>
    api(`POST /account/alerts/${alertId}/triggers/${triggerId}/acknowledge`, undefined, by)
  expect((await acknowledge(other)).status).toBe(404)
  expect((await acknowledge(id, stranger)).status).toBe(404)
  expect((await acknowledge(id)).body).toMatchObject({ id: triggerId, acknowledged: true })
})
