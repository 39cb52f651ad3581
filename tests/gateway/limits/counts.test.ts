import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { SQL } from 'bun'
import { newOrganization, type Organization } from '../../harness/organization'
import { call, createModelFixture, type Fixture } from '../../harness/byok'
import { openDatabase } from '../../harness/database'
import type { Json } from '../../harness/http'
import type { Customer } from '../../harness/server'

/**
 * How many of a thing there may be holds also for those who ask for many at once: of twenty requests with
 * room for three, three are granted. Source: contract 3.3.
 */

let fixture: Fixture
let sql: SQL & AsyncDisposable

beforeAll(async () => {
  fixture = await createModelFixture()
  sql = await openDatabase(fixture.gateway.dataDir)
  const rates = { api_requests_per_minute: 1_000_000, invitation_mails_per_day: 1000 }
  await fixture.gateway.admin('PUT', '/config', { rates })
  for (let index = 0; index < atOnce; index++) {
    const model = { name: 'One', category: 'chat', pricing: { input: 1, output: 4 } }
    await fixture.gateway.admin('POST', '/models', { id: `fake/at-once-${index}`, ...model })
  }
})
afterAll(async () => {
  fixture.reset()
  await sql.close()
  await fixture[Symbol.asyncDispose]()
})

type Body = (index: number, owner: Customer) => Json

const atOnce = 20
const room = 3

/** Asks for twenty at once, and tells how many were granted; all others must have met the limit. */
async function granted(by: Customer, request: string, body: Body) {
  const answers = await Promise.all(
    Array.from({ length: atOnce }, (_, index) =>
      call(fixture.gateway, by, request.replace('#', String(index)), body(index, by)),
    ),
  )
  const refused = answers.filter(({ status }) => status >= 300)
  expect(refused.map(({ error }) => error.details?.['issue'])).toEqual(
    refused.map(() => 'limit_reached'),
  )
  return atOnce - refused.length
}

/** A thing of which there is a limit: its rows, all but three of them, and how one more is asked for. */
interface Limited {
  max: number
  fill: (ownerId: string, count: number) => Promise<unknown>
  /** With the number of the request in the place of `#`. */
  request: string
  body: Body
}

const connectionOf = (userId: string) => userId.replace('user', 'conn')

const ofAccount: Record<string, Limited> = {
  keys: {
    // Two are there already.
    max: 50 - 1,
    fill: (userId, count) => sql`
      insert into api_key (id, user_id, name, key_prefix, hash, permissions)
      select 'key_' || gen_random_uuid(), ${userId}, 'Filler', 'sk-tg', sha256(gen_random_uuid()::text::bytea),
        '{read}'
      from generate_series(1, ${count}::int)`,
    request: 'POST /account/keys',
    body: (index) => ({ name: `Key ${index}` }),
  },
  alerts: {
    max: 100,
    fill: (userId, count) => sql`
      insert into alert (id, user_id, name, type, threshold, period, enabled, channels)
      select 'alert_' || gen_random_uuid(), ${userId}, 'Filler', 'error_rate', 1, 'day', false, '{}'
      from generate_series(1, ${count}::int)`,
    request: 'POST /account/alerts',
    body: (index) => ({ name: `Alert ${index}`, type: 'cost_threshold', threshold: 10 }),
  },
  destinations: {
    max: 20,
    fill: (userId, count) => sql`
      insert into notification_destination
        (id, user_id, name, kind, shown_url, events, enabled, secret, secret_key_id)
      select 'dest_' || gen_random_uuid(), ${userId}, 'Filler', 'slack', '', '{}', false, '', ''
      from generate_series(1, ${count}::int)`,
    request: 'POST /account/notification-destinations',
    body: (index) => ({ name: `Mine ${index}`, kind: 'slack', url: fixture.upstream.url }),
  },
  prompts: {
    max: 5000,
    fill: (userId, count) => sql`
      insert into prompt (id, user_id, title, content)
      select 'prompt_' || gen_random_uuid(), ${userId}, 'Filler', 'x'
      from generate_series(1, ${count}::int)`,
    request: 'POST /user/prompts',
    body: (index) => ({ title: `Prompt ${index}`, content: 'Hello.' }),
  },
  collections: {
    max: 100,
    fill: (userId, count) => sql`
      insert into model_collection (id, scope, user_id, name, routing_strategy)
      select 'coll_' || gen_random_uuid(), 'individual', ${userId}, 'filler-' || n, 'priority'
      from generate_series(1, ${count}::int) as n`,
    request: 'POST /user/model-collections',
    body: (index) => ({ name: `mine-${index}`, members: ['sandbox/echo'] }),
  },
  mappings: {
    max: 200,
    fill: (userId, count) => sql`
      insert into model_mapping (id, user_id, source_pattern, target_model)
      select 'map_' || gen_random_uuid(), ${userId}, 'filler-' || n, 'sandbox/echo'
      from generate_series(1, ${count}::int) as n`,
    request: 'POST /user/model-mappings',
    body: (index) => ({ source_pattern: `mine-${index}`, target_model: 'sandbox/echo' }),
  },
  connections: {
    max: 100,
    fill: (userId, count) => sql`
      insert into connection (id, scope, user_id, name, provider)
      select 'conn_' || gen_random_uuid(), 'individual', ${userId}, 'Filler', 'fake'
      from generate_series(1, ${count}::int)`,
    request: 'POST /connections',
    body: (index) => ({
      name: `Mine ${index}`,
      provider: 'fake',
      api_key: 'sk-fake-0123456789',
      endpoint_url: fixture.upstream.url,
    }),
  },
  'connection pools': {
    max: 50,
    fill: (userId, count) => sql`
      with one as (
        insert into connection (id, scope, user_id, name, provider)
        values (${connectionOf(userId)}, 'individual', ${userId}, 'Mine', 'fake')
      )
      insert into connection_pool (id, name, provider, scope, user_id, strategy)
      select 'pool_' || gen_random_uuid(), 'Filler', 'fake', 'individual', ${userId}, 'priority'
      from generate_series(1, ${count}::int)`,
    request: 'POST /connection-pools',
    body: (index, { userId }) => ({
      name: `Pool ${index}`,
      provider: 'fake',
      connection_ids: [connectionOf(userId)],
    }),
  },
  'unfinished sessions': {
    max: 500,
    fill: (userId, count) => sql`
      insert into automation_session (id, user_id, session_type, model_id, disabled_tools)
      select 'sess_' || gen_random_uuid(), ${userId}, 'chat', 'sandbox/echo', '[]'
      from generate_series(1, ${count}::int)`,
    request: 'POST /automation/sessions',
    body: () => ({ modelId: 'sandbox/echo' }),
  },
  templates: {
    max: 200,
    fill: (userId, count) => sql`
      insert into automation_template (id, user_id, name)
      select 'tmpl_' || gen_random_uuid(), ${userId}, 'Filler'
      from generate_series(1, ${count}::int)`,
    request: 'POST /automation/templates',
    body: (index) => ({ name: `Template ${index}`, systemPrompt: 'You help.' }),
  },
  favourites: {
    max: 1000,
    fill: (userId, count) => sql`
      insert into model_favorite (user_id, model_id)
      select ${userId}, 'fake/filler-' || n from generate_series(1, ${count}::int) as n`,
    request: 'POST /favorites',
    body: (index) => ({ model_id: `fake/at-once-${index}` }),
  },
  ratings: {
    max: 5000,
    fill: (userId, count) => sql`
      insert into model_rating (id, user_id, model_id, rating)
      select 'rating_' || gen_random_uuid(), ${userId}, 'fake/filler-' || n, 5
      from generate_series(1, ${count}::int) as n`,
    request: 'POST /models/fake/at-once-#/ratings',
    body: () => ({ rating: 5 }),
  },
  'open tickets': {
    max: 20,
    fill: (userId, count) => sql`
      insert into ticket (id, user_id, subject, description, category, priority)
      select 'ticket_' || gen_random_uuid(), ${userId}, 'Filler', 'x', 'other', 'low'
      from generate_series(1, ${count}::int)`,
    request: 'POST /support/tickets',
    body: (index) => ({ subject: `Question ${index}`, description: 'Why?' }),
  },
}

test.each(Object.entries(ofAccount))('%s of an account', async (_name, limited) => {
  const owner = await fixture.newCustomer()
  await limited.fill(owner.userId, limited.max - room)
  expect(await granted(owner, limited.request, limited.body)).toBe(room)
})

test('an account owns one organization', async () => {
  const owner = await fixture.newCustomer()
  const request = 'POST /organizations'
  expect(await granted(owner, request, (index) => ({ name: `At once ${index}` }))).toBe(1)
})

const scoped = ({ id }: Organization, body: Json) => ({
  ...body,
  scope: 'organization',
  organization_id: id,
})

describe('for an organization', () => {
  test('collections', async () => {
    const organization = await newOrganization(fixture)
    const { owner, id } = organization
    await sql`
      insert into model_collection (id, scope, organization_id, name, routing_strategy)
      select 'coll_' || gen_random_uuid(), 'organization', ${id}, 'filler-' || n, 'priority'
      from generate_series(1, ${200 - room}::int) as n`
    const body = (index: number) =>
      scoped(organization, { name: `ours-${index}`, members: ['sandbox/echo'] })
    expect(await granted(owner, 'POST /user/model-collections', body)).toBe(room)
  })

  test('connections', async () => {
    const organization = await newOrganization(fixture)
    const { owner, id } = organization
    await sql`
      insert into connection (id, scope, organization_id, billing_mode, name, provider)
      select 'conn_' || gen_random_uuid(), 'organization', ${id}, 'org_pays', 'Filler', 'fake'
      from generate_series(1, ${500 - room}::int)`
    const body = (index: number) =>
      scoped(organization, {
        name: `Ours ${index}`,
        provider: 'fake',
        api_key: 'sk-fake-0123456789',
        endpoint_url: fixture.upstream.url,
      })
    expect(await granted(owner, 'POST /connections', body)).toBe(room)
  })

  test.each([true, false])('concurrently joining members: %p', async (isApproved) => {
    const { owner, id, path } = await newOrganization(fixture)
    const { admin } = fixture.gateway
    // The owner is one.
    const fields = { member_limit: room + 1, auto_approve_requests: isApproved }
    await admin('PUT', `/organizations/${id}`, fields)
    const joining = await Promise.all(Array.from({ length: atOnce }, () => fixture.newCustomer()))
    await Promise.all(joining.map((one) => call(fixture.gateway, one, `POST ${path}/join`, {})))
    await Promise.all(
      joining.map(({ userId }) =>
        call(fixture.gateway, owner, `PUT ${path}/members/${userId}`, { status: 'active' }),
      ),
    )
    const { body } = await call(fixture.gateway, owner, `GET ${path}`)
    expect(body['member_count']).toBe(room + 1)
  })
})

test('concurrent requests invite one address once', async () => {
  const { owner, path } = await newOrganization(fixture)
  const answers = await Promise.all(
    Array.from({ length: atOnce }, () =>
      call(fixture.gateway, owner, `POST ${path}/members/invite`, { email: 'twice@example.com' }),
    ),
  )
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
})
