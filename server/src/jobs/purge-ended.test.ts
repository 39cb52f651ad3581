import { afterAll, beforeAll, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { purgeEnded } from './purge-ended'
import type { Database } from '../platform/db/database'
import { openTestDatabase } from '../../testing/db/database'
import { newId } from '../platform/db/id'
import { createCustomer } from '../../testing/ledger/customer'
import { takeLease } from '../ledger/take-lease'

const stack = new AsyncDisposableStack()
let database: Database

beforeAll(async () => {
  database = await openTestDatabase(stack)
})
afterAll(() => stack.disposeAsync())

const idsOf = async (table: string) => {
  const { rows } = await sql<{ id: string }>`
    select id from ${sql.table(table)} order by id`.execute(database.query)
  return rows.map(({ id }) => id)
}

test('ended sessions are deleted after their retention, with all messages', async () => {
  const { query } = database
  const userId = await createCustomer(database)
  await sql`
    insert into automation_session
      (id, user_id, session_type, status, model_id, disabled_tools, updated_at)
    select status || '_' || days, ${userId}, 'chat', status, 'sandbox/echo', '[]',
      now() - days * interval '1 day'
    from unnest(array['active', 'paused', 'completed', 'cancelled', 'failed']) as status,
      unnest(array[0, 29, 32]) as days`.execute(query)
  await sql`
    insert into automation_message (id, session_id, user_id, position, role, content, tokens)
    select 'msg_' || position || id, id, ${userId}, position, 'user', 'Hello.', 1
    from automation_session, generate_series(0, 2) as position`.execute(query)
  expect(await purgeEnded(query, 30)).toMatchObject({ sessions: 3 })
  const remainingIds = await idsOf('automation_session')
  expect(remainingIds.filter((id) => id.endsWith('_32'))).toEqual(['active_32', 'paused_32'])
  expect(remainingIds).toHaveLength(12)
  expect(await idsOf('automation_message')).toHaveLength(36)
  expect(await purgeEnded(query, 30)).toMatchObject({ sessions: 0 })
})

/** An organization's id. */
async function newOrganization(): Promise<string> {
  const id = newId('org')
  await database.query
    .insertInto('organization')
    .values({ id, name: 'Company', billing_email: 'billing@example.com' })
    .execute()
  return id
}

test('invitations are deleted a retention after their expiry', async () => {
  const { query } = database
  const organizationId = await newOrganization()
  await sql`
    insert into invitation (id, organization_id, email, role, status, expires_at)
    select status || days, ${organizationId}, status || days || '@example.com', 'member', status,
      now() - days * interval '1 day'
    from unnest(array['pending', 'accepted', 'declined', 'revoked']) as status,
      unnest(array[-7, 29, 32]) as days`.execute(query)
  expect(await purgeEnded(query, 30)).toMatchObject({ invitations: 4 })
  const remainingIds = await idsOf('invitation')
  expect(remainingIds).toHaveLength(8)
  expect(remainingIds.filter((id) => id.endsWith('32'))).toEqual([])
})

test('keeps the usage of an organization for 25 months, and counts it in limits meanwhile', async () => {
  const { query } = database
  const organizationId = await newOrganization()
  await sql`
    insert into organization_sum
      (organization_id, day, user_id, model, requests, input_tokens, output_tokens, duration_ms,
        price, cost, spent)
    select ${organizationId}, (
        date_trunc('month', now() at time zone 'UTC') - make_interval(months => months)
      )::date - 1, 'user', 'sandbox/echo', 1, 1, 1, 1, 1, 1, 1
    from unnest(array[-1, 0, 1, 24, 25, 30]) as months`.execute(query)
  expect(await purgeEnded(query, 2)).toMatchObject({ sums: 2 })
  const { rows } = await sql<{ total: number }>`
    select count(*)::integer as total from organization_sum`.execute(query)
  expect(rows).toEqual([{ total: 4 }])
})

test('organization audit logs are deleted after 25 months, and not sooner', async () => {
  const { query } = database
  await sql`
    insert into organization_trail
      (id, created_at, organization_id, actor, action, object_id)
    select 'trail_' || months, now() - make_interval(months => months), 'org_1', 'system',
      'credit.bought', 'cs_1'
    from unnest(array[0, 24, 26, 40]) as months`.execute(query)
  const young = sql`delete from organization_trail where id = 'trail_24'`
  await expect(young.execute(query)).rejects.toThrow('append-only')
  expect(await purgeEnded(query, 2)).toMatchObject({ changes: 2 })
  expect(await idsOf('organization_trail')).toEqual(['trail_0', 'trail_24'])
})

/** Inserts entries of these ages in months. */
const insertChanges = (organizationId: string, actor: string, ages: readonly number[]) =>
  sql`
    insert into organization_trail
      (id, created_at, organization_id, actor, action, object_id)
    select ${organizationId}::text || '_' || months, now() - make_interval(months => months),
      ${organizationId}, ${actor}, 'credit.bought', 'cs_1'
    from unnest(${[...ages]}::integer[]) as months`.execute(database.query)

const agesOf = async (organizationId: string) =>
  (await idsOf('organization_trail'))
    .filter((id) => id.startsWith(`${organizationId}_`))
    .map((id) => Number(id.split('_').at(-1)))

test('an organization, else the installation, sets the retention of an audit log', async () => {
  const { query } = database
  const [short, long, usual] = [
    await newOrganization(),
    await newOrganization(),
    await newOrganization(),
  ]
  const retain = (id: string, months: number) =>
    query
      .updateTable('organization')
      .set({ audit_retention_months: months })
      .where('id', '=', id)
      .execute()
  await retain(short, 3)
  await retain(long, 60)
  for (const id of [short, long, usual]) await insertChanges(id, 'system', [1, 4, 26, 61])
  await sql`update config set settings = settings || '{"auditRetentionMonths": 30}'`.execute(query)
  await purgeEnded(query, 2)
  expect(await agesOf(short)).toEqual([1])
  expect(await agesOf(long)).toEqual([1, 26, 4])
  expect(await agesOf(usual)).toEqual([1, 26, 4])
  await sql`update config set settings = settings - 'auditRetentionMonths'`.execute(query)
  await purgeEnded(query, 2)
  expect([await agesOf(long), await agesOf(usual)]).toEqual([
    [1, 26, 4],
    [1, 4],
  ])
})

test('nodes of the version before skip entries with a retention of more than 25 months', async () => {
  const { query } = database
  const id = await newOrganization()
  await query.updateTable('organization').set({ audit_retention_months: 60 }).execute()
  await insertChanges(id, 'system', [24, 26])
  await sql`
    delete from organization_trail where created_at < now() - interval '25 months'`.execute(query)
  expect(await agesOf(id)).toEqual([24, 26])
  await query.updateTable('organization').set({ audit_retention_months: null }).execute()
})

test('a legal hold keeps the audit log of an organization, and the actions of an account, until it ends', async () => {
  const { query } = database
  const [held, other] = [await newOrganization(), await newOrganization()]
  const person = newId('user')
  await insertChanges(held, 'system', [26])
  await insertChanges(other, person, [27])
  await insertChanges(other, 'system', [28])
  const hold = (id: string, subjectId: string) =>
    query
      .insertInto('legal_hold')
      .values({ id, subject_id: subjectId, reason: 'Case 1.' })
      .execute()
  await hold('hold_1', held)
  await hold('hold_2', person)
  await purgeEnded(query, 2)
  expect([await agesOf(held), await agesOf(other)]).toEqual([[26], [27]])
  // No statement can delete them.
  await sql`delete from organization_trail where organization_id = ${held}`.execute(query)
  expect(await agesOf(held)).toEqual([26])
  await query.updateTable('legal_hold').set({ ended_at: new Date() }).execute()
  await purgeEnded(query, 2)
  expect([await agesOf(held), await agesOf(other)]).toEqual([[], []])
})

test('entries that wait for a deleted destination of audit logs leave the queue', async () => {
  const { query } = database
  await sql`insert into audit_outbox (destination_id, entry_id) values ('sink_1', 'trail_1')`.execute(
    query,
  )
  await purgeEnded(query, 2)
  expect(await query.selectFrom('audit_outbox').selectAll().execute()).toEqual([])
})

test('earlier secrets of a key are deleted once they have expired', async () => {
  const { query } = database
  const owner = await createCustomer(database)
  const keyId = newId('key')
  await query
    .insertInto('api_key')
    .values({
      id: keyId,
      user_id: owner,
      name: 'Key',
      key_prefix: 'sk-tg-123456',
      hash: Buffer.alloc(32, keyId),
      permissions: ['read'],
    })
    .execute()
  await sql`
    insert into previous_secret (hash, key_id, key_prefix, expires_at)
    select sha256(convert_to(seconds::text, 'UTF8')), ${keyId}, 'sk-tg-123456',
      now() + seconds * interval '1 second'
    from unnest(array[-86400, -1, 60]) as seconds`.execute(query)
  await purgeEnded(query, 2)
  const { rows } = await sql<{ isValid: boolean }>`
    select expires_at > now() as "isValid" from previous_secret`.execute(query)
  expect(rows).toEqual([{ isValid: true }])
})

test('online times of gateways are deleted after a day', async () => {
  const { query } = database
  const id = newId('gw')
  const owner = await createCustomer(database)
  await query
    .insertInto('gateway')
    .values({
      id,
      user_id: owner,
      organization_id: null,
      name: 'Mine',
      token_hash: Buffer.from(id),
    })
    .execute()
  await sql`
    insert into gateway_hour (gateway_id, hour, minutes)
    select ${id}, floor(extract(epoch from now()) / 3600) - ago, 1
    from unnest(array[0, 24, 25, 26, 100]) as ago`.execute(query)
  await purgeEnded(query, 2)
  const { rows } = await sql`
    select from gateway_hour where gateway_id = ${id}`.execute(query)
  expect(rows).toHaveLength(3)
})

test('a killed node is removed after a week, unless it has leases to be freed', async () => {
  const { query } = database
  const accountId = await createCustomer(database, 1000n)
  await sql`
    insert into node (id, place, seen_at)
    select 'node_' || days || owed, 'here', now() - days * interval '1 day'
    from unnest(array[0, 6, 8]) as days, unnest(array['', '_owed']) as owed`.execute(query)
  await takeLease(query, {
    generation: 0,
    isReclaiming: false,
    leaseId: 'lease_1',
    accountId,
    nodeId: 'node_8_owed',
    need: 100n,
    wish: 100n,
    nodes: 1,
    lifeSeconds: 60,
    demandSeconds: 2,
  })
  await purgeEnded(query, 2)
  expect(await idsOf('node')).toEqual([
    'node_0',
    'node_0_owed',
    'node_6',
    'node_6_owed',
    'node_8_owed',
  ])
})
