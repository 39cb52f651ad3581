import { afterAll, beforeAll, expect, test } from 'bun:test'
import { listIn, createFixture, waitFor, type Fixture } from './fixture'
import { idIn } from '../../harness/byok'
import { sendRequest, messages } from '../../harness/http'
import { eventually } from '../../../server/testing/eventually'
import { dayWaitMs, untilDayLasts } from '../../../server/testing/calendar'

let fixture: Fixture

beforeAll(async () => {
  await untilDayLasts()
  fixture = await createFixture()
}, 60_000 + dayWaitMs)
afterAll(() => fixture[Symbol.asyncDispose]())

test('requests trigger an alert: a mail, a notification, a trigger that is acknowledged', async () => {
  const { rig, mails, api } = fixture
  const { id: plan_id } = await rig.gateway.admin('POST', '/plans', {
    name: 'four a month',
    requests_per_minute: 1000,
    tokens_per_minute: 1_000_000,
    concurrent_requests: 10,
    monthly_requests: 4,
  })
  const customer = await rig.gateway.customer({}, { plan_id: String(plan_id) })
  const name = 'Half\u00a0of “it”'
  const fields = { name, type: 'quota_limit', threshold: 50, period: 'hour' }
  const id = idIn(await api(customer, 'POST /account/alerts', fields))
  const model = await rig.model('ok')
  for (let request = 0; request < 3; request++) {
    const { status } = await sendRequest(rig.gateway, {
      key: customer.key,
      body: { model, messages },
    })
    expect(status).toBe(200)
  }

  const email = await fixture.emailOf(customer)
  const mail = await waitFor(async () => mails.to(email)[0])
  expect(mail.from).toBe('tollgate@gate.example')
  expect(mail.text).toMatch(/^From: Tollgate <tollgate@gate.example>\r$/m)
  expect(mail.text).toMatch(/^Message-ID: <mail-\d+\.\d+@gate\.example>\r$/m)
  expect(mail.text).toMatch(/^Content-Type: text\/plain; charset=utf-8\r$/m)

  const inbox = await api(customer, 'GET /account/notifications?kind=alert')
  const [notice] = listIn(inbox, 'notifications')
  expect(inbox.body['unread_count']).toBe(1)
  expect(notice).toMatchObject({
    kind: 'alert',
    title: `Alert: ${name}`,
    alert_id: id,
    link: `/alerts/${id}`,
    read_at: null,
  })

  const { body: alert } = await api(customer, `GET /account/alerts/${id}`)
  const [trigger] = listIn(await api(customer, `GET /account/alerts/${id}`), 'recent_triggers')
  expect(alert).toMatchObject({ trigger_count: 1 })
  expect(alert['last_triggered_at']).toBe(trigger?.['triggered_at'])
  expect(trigger).toMatchObject({ acknowledged: false, id: notice?.['trigger_id'] })
  expect(trigger?.['value']).toBeGreaterThanOrEqual(50)
  const acknowledge = `POST /account/alerts/${id}/triggers/${String(trigger?.['id'])}/acknowledge`
  expect((await api(customer, acknowledge)).body).toEqual({ ...trigger, acknowledged: true })
  expect((await api(customer, acknowledge)).status).toBe(200)

  // The condition stays true, and a later look, which triggers another alert, finds it so.
  const later = { ...fields, name: 'Later', notification_channels: ['dashboard'] }
  const laterId = idIn(await api(customer, 'POST /account/alerts', later))
  await waitFor(async () => {
    const { body } = await api(customer, `GET /account/alerts/${laterId}`)
    return body['trigger_count'] === 1 ? body : undefined
  })
  expect(mails.to(email)).toHaveLength(1)
  const after = await api(customer, `GET /account/alerts/${id}`)
  expect(after.body).toMatchObject({
    trigger_count: 1,
    recent_triggers: [{ ...trigger, acknowledged: true }],
  })
})

test('a changed threshold counts as not passed before', async () => {
  const { rig, api } = fixture
  const customer = await rig.gateway.customer()
  const fields = { name: 'Cost', type: 'cost_threshold', threshold: 1, notification_channels: [] }
  const id = idIn(await api(customer, 'POST /account/alerts', fields))
  const hour = new Date(Math.floor(Date.now() / 3_600_000) * 3_600_000 - 7_200_000)
  await fixture.sql`
    insert into request_sum select grain, case grain
        when 'day' then date_trunc('day', ${hour}::timestamptz, 'UTC') else ${hour} end,
      ${customer.userId}, 'key', 'm/m', 1, 1, 0, 0, 1, 1, 5, 9000000000, 5000000000, 1
    from unnest(array['hour', 'day']) as grain`
  const shown = async (count: number) => {
    const { body } = await api(customer, `GET /account/alerts/${id}`)
    return body['trigger_count'] === count ? body : undefined
  }
  expect(listIn(await api(customer, `GET /account/alerts/${id}`), 'recent_triggers')).toBeArray()
  const first = await waitFor(() => shown(1))
  expect(first['recent_triggers']).toMatchObject([{ value: 9, acknowledged: false }])
  await api(customer, `PUT /account/alerts/${id}`, { threshold: 2 })
  await waitFor(() => shown(2))
  await api(customer, `PUT /account/alerts/${id}`, { enabled: false })
  await api(customer, `PUT /account/alerts/${id}`, { enabled: true })
  await waitFor(() => shown(3))
  // Without channels nothing is said.
  const { body } = await api(customer, 'GET /account/notifications')
  expect(body).toMatchObject({ notifications: [], unread_count: 0 })
})

test('a balance below the warning threshold notifies its account once', async () => {
  const { rig, mails, api } = fixture
  const customer = await rig.gateway.customer({}, { credit: 3 })
  const poor = await rig.gateway.customer({}, { credit: 0.5 })
  const change = (amount: number, { userId } = customer) =>
    rig.gateway.admin('POST', '/credits/adjust', { user_id: userId, amount, reason: 'test' })
  const notices = async (count: number, by = customer) => {
    const list = listIn(await api(by, 'GET /account/notifications'), 'notifications')
    return list.length === count ? list : undefined
  }
  const isArmed = ({ userId } = customer) =>
    eventually(async () => {
      const [row] = await fixture.sql`select armed from balance_watch where account_id = ${userId}`
      return row?.armed === true
    })
  await isArmed()
  await change(-2.5)
  const [notice] = await waitFor(() => notices(1))
  expect(notice).toMatchObject({ kind: 'low_balance', link: '/billing' })
  const email = await fixture.emailOf(customer)
  expect((await waitFor(async () => mails.to(email)[0])).text).toContain('$0.50, below $1.00')
  await change(0.1)
  // A later look, which notifies another account.
  const other = await rig.gateway.customer({}, { credit: 3 })
  await isArmed(other)
  await change(-2.5, other)
  await waitFor(() => notices(1, other))
  expect(await notices(1)).toBeDefined()
  await change(5)
  await isArmed()
  await change(-5)
  await waitFor(() => notices(2))
  // Who never had more has not fallen.
  expect(listIn(await api(poor, 'GET /account/notifications'), 'notifications')).toEqual([])
})

test('J03: a mail that was not taken is tried again, and goes out once', async () => {
  const { mails, sql } = fixture
  const recipient = 'later@example.com'
  mails.refused.add(recipient)
  const subject = 'Later\r\nBcc: eve@example.com'
  const [row] = await sql`
    insert into mail (recipient, subject, body) values (${recipient}, ${subject}, '.\n.\nText')
    returning id`
  const read = async () => (await sql`select * from mail where id = ${row.id}`)[0]
  await waitFor(async () => ((await read()).last_error === null ? undefined : true))
  const waiting = await read()
  expect(waiting).toMatchObject({ attempts: 1, sent_at: null, failed_at: null })
  expect(waiting.last_error).toContain('not now')
  expect(waiting.next_attempt_at - waiting.created_at).toBeGreaterThan(50_000)
  mails.refused.clear()
  await sql`update mail set next_attempt_at = now() where id = ${row.id}`
  await waitFor(async () => ((await read()).sent_at === null ? undefined : true))
  const [mail] = mails.to(recipient)
  expect(mails.to(recipient)).toHaveLength(1)
  expect(mail?.to).toEqual([recipient])
  expect(mail?.text).toMatch(/^Subject: Later Bcc: eve@example.com\r$/m)
  expect(mail?.text).not.toMatch(/^Bcc:/m)
  expect(mail?.text).toMatch(/\r\n\r\n\.\r\n\.\r\nText/)
  expect(mails.recipients).not.toContain('eve@example.com')
})

test('a test is sent at once, and reports a rejection by the mail server', async () => {
  const { rig, mails, api } = fixture
  const customer = await rig.gateway.customer()
  const email = await fixture.emailOf(customer)
  const fields = { name: 'Errors', type: 'error_rate', threshold: 5 }
  const id = idIn(await api(customer, 'POST /account/alerts', fields))
  const passed = await api(customer, `POST /account/alerts/${id}/test`)
  expect(passed.body).toEqual({
    success: true,
    message: 'A test notification was sent: email, dashboard.',
    channels: ['email', 'dashboard'],
  })
  expect(mails.to(email)[0]?.text).toMatch(/^Subject: Test of the alert: Errors\r$/m)
  mails.refused.add(email)
  const refused = await api(customer, `POST /account/alerts/${id}/test`)
  expect(refused.body).toMatchObject({ success: false, channels: ['dashboard'] })
  expect(mails.to(email)).toHaveLength(1)
  await fixture.sql`update users set email_verified = false where id = ${customer.userId}`
  const unverified = await api(customer, `POST /account/alerts/${id}/test`)
  expect(unverified.body).toMatchObject({ success: false, channels: ['dashboard'] })
  expect(unverified.body['message']).toContain('not verified')
})

test('the password of the mail server is in no log', () => {
  expect(fixture.rig.gateway.output()).not.toContain('a pass:word')
  expect(fixture.rig.gateway.output()).not.toContain(encodeURIComponent('a pass:word/'))
})
