import { describe, expect, test } from 'bun:test'
import { fields, unknownAlert, useQuietFixture } from './quiet-fixture'
import { listIn } from './fixture'
import { problem } from '../../harness/byok'
import { sendRequest, type Json } from '../../harness/http'
import { type Customer } from '../../harness/server'

const { fixture, api, createAlert } = useQuietFixture()

const wrongList = async (query: string) => problem(await api(`GET /account/alerts?${query}`))

describe('is rejected', () => {
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

  test('a change that is empty, or does not fit the other fields', async () => {
    const id = await createAlert({ threshold: 500 })
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

  test('a list with invalid filters and pages', async () => {
    expect(await wrongList('type=cost')).toEqual([400, 'type', 'unknown_value'])
    expect(await wrongList('enabled=yes')).toEqual([400, 'enabled', 'unknown_value'])
    expect(await wrongList('limit=0')).toEqual([400, 'limit', 'out_of_range'])
    expect(await wrongList('cursor=x')).toEqual([400, 'cursor', 'bad_format'])
  })
})

describe('an alert', () => {
  test('has the defaults after its creation, and only the fields of the contract', async () => {
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
      notification_destinations: null,
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

  test('drops repeated fields and fields that its type does not use', async () => {
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

  test('counts ten requests for errors and one for latency by default', async () => {
    const id = await createAlert({ type: 'error_rate' })
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
    const id = await createAlert({ description: 'What for' })
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

  test('is gone after its deletion', async () => {
    const id = await createAlert()
    const { status, body } = await api(`DELETE /account/alerts/${id}`)
    expect([status, body['success']]).toEqual([200, true])
    expect((await api(`GET /account/alerts/${id}`)).status).toBe(404)
    expect((await api(`DELETE /account/alerts/${id}`)).status).toBe(404)
  })

  test('of another account, or none, is 404', async () => {
    const id = await createAlert()
    const absent = async (request: string, body?: Json) => {
      const foreign = await api(request.replace('{id}', id), body, fixture().stranger)
      const unknown = await api(request.replace('{id}', unknownAlert), body)
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
  const own = await fixture().gateway.customer()
  const ids: string[] = []
  for (const type of ['error_rate', 'cost_threshold', 'error_rate']) {
    ids.unshift(await createAlert({ type, enabled: ids.length > 0 }, own))
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
    'notification_destinations',
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

test('an account has at most a hundred, also under concurrent requests', async () => {
  const own = await fixture().gateway.customer()
  const answers = await Promise.all(
    Array.from({ length: 105 }, () => api('POST /account/alerts', fields(), own)),
  )
  const refused = answers.filter(({ status }) => status !== 201)
  expect(refused.map(problem)).toEqual(
    Array.from({ length: 5 }, () => [400, null, 'limit_reached']),
  )
})

const as = async (by: Customer, request: string, body?: Json) => {
  const { status, error } = await api(request, body, by)
  return [status, error.code]
}

test('reading needs read, everything else write', async () => {
  const id = await createAlert()
  const reader = await fixture().gateway.customer({ permissions: ['read'] })
  const writer = await fixture().gateway.customer({ permissions: ['write'] })
  const refused = [403, 'insufficient_permissions']
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
  const nameless = await sendRequest(fixture().gateway, {
    path: '/api/account/alerts',
    method: 'GET',
  })
  expect(nameless.status).toBe(401)
})
