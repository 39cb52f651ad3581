import { describe, expect, test } from 'bun:test'
import { unknownAlert, useQuietFixture } from './quiet-fixture'
import { listIn } from './fixture'
import { problem } from '../../harness/byok'
import { openDatabase } from '../../harness/database'
import { eventually } from '../../../server/testing/eventually'

const { fixture, api, createAlert } = useQuietFixture()

test('J05: a test reports the channels that it reached, five times an hour', async () => {
  const own = await fixture().gateway.customer()
  const id = await createAlert({ enabled: false }, own)
  const first = await api(`POST /account/alerts/${id}/test`, undefined, own)
  expect([first.status, first.body]).toEqual([
    200,
    {
      success: false,
      message: 'E-mail is not configured on this server. A test notification was sent: dashboard.',
      channels: ['dashboard'],
    },
  ])
  await api(`PUT /account/alerts/${id}`, { notification_channels: ['dashboard'] }, own)
  // What is not there does not count.
  await api(`POST /account/alerts/${unknownAlert}/test`, undefined, own)
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

const wrongList = async (query: string) => problem(await api(`GET /account/notifications?${query}`))

describe('the inbox', () => {
  test('shows unread notifications, counts them, and marks them as read', async () => {
    const own = await fixture().gateway.customer()
    const id = await createAlert({ notification_channels: ['dashboard'] }, own)
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
    const own = await fixture().gateway.customer()
    const id = await createAlert({ notification_channels: ['dashboard'] }, own)
    await api(`POST /account/alerts/${id}/test`, undefined, own)
    const [notice] = listIn(
      await api('GET /account/notifications', undefined, own),
      'notifications',
    )
    const read = `POST /account/notifications/${String(notice?.['id'])}/read`
    expect((await api(read, undefined, fixture().stranger)).status).toBe(404)
    expect((await api('POST /account/notifications/x/read')).status).toBe(404)
    await api('POST /account/notifications/read-all', undefined, fixture().stranger)
    const { body } = await api('GET /account/notifications', undefined, own)
    expect(body['unread_count']).toBe(1)
  })

  test('rejects invalid filters', async () => {
    expect(await wrongList('kind=news')).toEqual([400, 'kind', 'unknown_value'])
    expect(await wrongList('unread=1')).toEqual([400, 'unread', 'unknown_value'])
  })
})

test('a trigger belongs to its alert', async () => {
  const id = await createAlert()
  const other = await createAlert()
  await using sql = await openDatabase(fixture().gateway.dataDir)
  const triggerId = 'trg_01hzzzzzzzzzzzzzzzzzzzzzzz'
  await sql`
    insert into alert_trigger (id, alert_id, triggered_at, value) values (${triggerId}, ${id}, now(), 1)`
  const acknowledge = (alertId: string, by = fixture().customer) =>
    api(`POST /account/alerts/${alertId}/triggers/${triggerId}/acknowledge`, undefined, by)
  expect((await acknowledge(other)).status).toBe(404)
  expect((await acknowledge(id, fixture().stranger)).status).toBe(404)
  expect((await acknowledge(id)).body).toMatchObject({ id: triggerId, acknowledged: true })
})

test('without a mail server mails wait, and the log has that once', async () => {
  await using sql = await openDatabase(fixture().gateway.dataDir)
  await sql`insert into mail (recipient, subject, body) values ('ann@example.com', 'Hello', 'Text')`
  const warnings = () =>
    fixture()
      .gateway.output()
      .match(/set SMTP_URL and MAIL_FROM/g) ?? []
  await eventually(() => warnings().length > 0)
  // By the time that the node has renewed its sign of life twice, it would have looked again: it looks ten times a second.
  for (let renewals = 0; renewals < 2; renewals++) {
    const seen = async () =>
      String((await sql`select max(seen_at) as at from node`)[0].at.getTime())
    const before = await seen()
    await eventually(async () => (await seen()) !== before)
  }
  expect(warnings()).toHaveLength(1)
  const [row] = await sql`select attempts, sent_at, failed_at from mail`
  expect(row).toEqual({ attempts: 0, sent_at: null, failed_at: null })
})
