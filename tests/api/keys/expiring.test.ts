import { afterAll, beforeAll, expect, test } from 'bun:test'
import { call, createModelFixture, idIn, type Fixture } from '../../harness/byok'
import { openDatabase } from '../../harness/database'
import { eventually } from '../../../server/testing/eventually'

let fixture: Fixture

beforeAll(async () => {
  fixture = await createModelFixture({ ALERT_SECONDS: '0.1' })
})
afterAll(() => fixture[Symbol.asyncDispose]())

const hourMs = 3_600_000

test('a key that expires within a day is delivered to a webhook, and in the inbox, once', async () => {
  const { gateway, upstream, newCustomer } = fixture
  const owner = await newCustomer()
  upstream.answer = () => new Response('heard')
  const create = async (path: string, fields: Record<string, unknown>) =>
    idIn(await call(gateway, owner, `POST ${path}`, fields))
  await create('/account/notification-destinations', {
    name: 'Operations',
    kind: 'webhook',
    url: `${upstream.url}/hook`,
    events: ['key.expiring'],
  })
  const expiresAt = new Date(Date.now() + 30 * hourMs).toISOString()
  const keyId = await create('/account/keys', { name: 'Search', expires_at: expiresAt })
  await using sql = await openDatabase(gateway.dataDir)
  // As if it had been made and notified of a week before it expires, and a day and an hour had passed since.
  const soon = new Date(Date.now() + 2 * hourMs)
  await sql`
    update api_key set created_at = now() - interval '30 days', expires_at = ${soon}
    where id = ${keyId}`
  await eventually(() => upstream.requests.length > 0)
  expect(upstream.requests.map(({ body }) => body)).toEqual([
    {
      type: 'key.expiring',
      timestamp: expect.stringMatching(/Z$/),
      data: {
        title: 'API key expires soon: Search',
        body: expect.stringContaining('Your API key "Search" (sk-tg-'),
        key_id: keyId,
        key_prefix: expect.stringMatching(/^sk-tg-/),
        expiring: 'key',
        expires_at: soon.toISOString(),
        days: 1,
        notification_id: expect.stringMatching(/^ntf_/),
        link: '/keys',
      },
    },
  ])
  const { body } = await call(gateway, owner, 'GET /account/notifications?kind=key_expiring')
  expect(body).toMatchObject({ notifications: [{ kind: 'key_expiring', link: '/keys' }] })
})
