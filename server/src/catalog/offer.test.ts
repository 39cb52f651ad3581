import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Kysely } from 'kysely'
import { createAccountReads } from './account-reads'
import type { ProviderOffer } from './offer'
import { sampleProvider } from '../../testing/catalog/samples'
import type { Database } from '../platform/db/database'
import { openTestDatabase } from '../../testing/db/database'
import { newId } from '../platform/db/id'
import type { ConnectionPoolRow, Schema } from '../platform/db/schema'
import { connectionSecret, seal, type SealingKeys } from '../platform/db/sealed'

const sealingKeys: SealingKeys = [{ id: 'one', key: Buffer.alloc(32, 5) }]
let stack: AsyncDisposableStack
let database: Database
let db: Kysely<Schema>
const damaged: string[] = []

beforeAll(async () => {
  stack = new AsyncDisposableStack()
  database = await openTestDatabase(stack)
  db = database.query
})
afterAll(() => stack.disposeAsync())

const reads = () =>
  createAccountReads(database, {
    sealingKeys,
    providers: () => new Map([['fake', sampleProvider()]]),
    onDamaged: (what) => void damaged.push(what),
  })

async function user(): Promise<string> {
  const id = newId('user')
  await db
    .insertInto('users')
    .values({ id, email: `${id}@example.com`, display_name: 'Ada' })
    .execute()
  return id
}

async function organization(fields: { is_public?: boolean } = {}): Promise<string> {
  const id = newId('org')
  await db
    .insertInto('organization')
    .values({ id, name: 'One', billing_email: 'one@example.com', ...fields })
    .execute()
  return id
}

interface Given {
  priority?: number
  is_default?: boolean
  status?: 'active' | 'inactive' | 'error'
  billing_mode?: 'org_pays' | 'member_pays'
}

/** The time of the newest id, each a millisecond later: ids of one given time have no order among themselves. */
let createdMs = Date.UTC(2026, 0, 1)

async function connection(owner: string, fields: Given = {}): Promise<string> {
  const id = newId('conn', (createdMs += 1))
  const isOrganization = owner.startsWith('org_')
  const own = isOrganization
    ? { organization_id: owner, billing_mode: 'org_pays' as const }
    : { user_id: owner }
  await db
    .insertInto('connection')
    .values({
      id,
      scope: isOrganization ? 'organization' : 'individual',
      name: 'one',
      provider: 'fake',
      secret: seal(`sk-${id}`, sealingKeys, connectionSecret(id)),
      ...own,
      ...fields,
    })
    .execute()
  return id
}

async function pool(owner: string, members: string[], fields: Partial<{ enabled: boolean }> = {}) {
  const id = newId('pool')
  const strategy: ConnectionPoolRow['strategy'] = 'priority'
  await db
    .insertInto('connection_pool')
    .values({
      id,
      name: 'p',
      provider: 'fake',
      scope: 'individual',
      user_id: owner,
      strategy,
      ...fields,
    })
    .execute()
  const rows = members.map((connection_id, position) => ({ pool_id: id, connection_id, position }))
  await db.insertInto('connection_pool_member').values(rows).execute()
  return id
}

const idsIn = (places: readonly ProviderOffer[] | undefined) =>
  places?.map(({ connections }) => connections.map(({ id }) => id))

const ownOf = async (owner: string) => (await reads().account(owner)).own.get('fake')

test('connections come default first, then by priority, then the oldest, failing ones last', async () => {
  const owner = await user()
  const old = await connection(owner)
  const young = await connection(owner)
  const first = await connection(owner, { priority: 1 })
  const usual = await connection(owner, { priority: 900, is_default: true })
  await connection(owner, { status: 'inactive' })
  const failing = await connection(owner, { status: 'error', priority: 1 })
  await connection(await user())
  const places = await ownOf(owner)
  expect(idsIn(places)).toEqual([[usual], [first], [old], [young], [failing]])
  expect(places?.[0]).toMatchObject({
    billing: 'byok',
    organizationId: null,
    pool: null,
    connections: [{ secret: `sk-${usual}`, owner }],
  })
})

test('accounts read at the same moment each have their own entries, and most have nothing', async () => {
  const [outsider, owner, member] = [await user(), await user(), await user()]
  const one = await connection(owner)
  const organizationId = await organization()
  await db
    .insertInto('membership')
    .values({ organization_id: organizationId, user_id: member, role: 'member', status: 'active' })
    .execute()
  const { account } = reads()
  const accounts = [outsider, owner, member, 'user_unknown', outsider]
  const read = await Promise.all(accounts.map(account))
  expect(read.map(({ own }) => idsIn(own.get('fake')))).toEqual([
    undefined,
    [[one]],
    undefined,
    undefined,
    undefined,
  ])
  const organizations = read.map(({ memberships }) => memberships.map((it) => it.organizationId))
  expect(organizations).toEqual([[], [], [organizationId], [], []])
})

test('discovered models have the latest stored price; an unreadable one is not served', async () => {
  const owner = await user()
  const id = await connection(owner)
  const names = ['free', 'freed', 'priced', 'spoilt']
  await db
    .insertInto('connection_model')
    .values(names.map((name) => ({ connection_id: id, name })))
    .execute()
  const price = (name: string, pricing: object | null) =>
    db
      .insertInto('connection_model_price')
      .values({ connection_id: id, name, pricing: pricing && JSON.stringify(pricing) })
      .execute()
  await price('priced', { input: '1', output: '1' })
  await price('freed', { input: '1', output: '1' })
  await price('gone', { input: '1', output: '1' })
  await price('spoilt', { input: -1, output: '1' })
  await price('freed', null)
  await price('priced', { input: '2', output: '30000000000' })
  damaged.length = 0
  const [place] = (await ownOf(owner)) ?? []
  const prices = Object.fromEntries(
    [...(place?.connections[0].discovered ?? [])].map(([name, { pricing }]) => [name, pricing]),
  )
  expect(prices).toEqual({
    free: null,
    freed: null,
    priced: { input: 2n, output: 30_000_000_000n },
  })
  expect(damaged.splice(0)).toEqual(['price'])
})

test('a pool stands in place of its members, where the first of them would', async () => {
  const owner = await user()
  const [a, b, c] = [
    await connection(owner, { priority: 5 }),
    await connection(owner, { priority: 3 }),
    await connection(owner, { priority: 4 }),
  ]
  const id = await pool(owner, [a, b])
  await pool(owner, [c], { enabled: false })
  const places = await ownOf(owner)
  expect(idsIn(places)).toEqual([[b, a], [c]])
  expect(places?.[0]?.pool).toEqual({ id, strategy: 'priority' })
})

test('K07: skips and reports a secret that was moved to another row', async () => {
  const owner = await user()
  const [good, bad] = [await connection(owner), await connection(owner)]
  const { secret } = await db
    .selectFrom('connection')
    .select('secret')
    .where('id', '=', good)
    .executeTakeFirstOrThrow()
  await db.updateTable('connection').set({ secret }).where('id', '=', bad).execute()
  damaged.length = 0
  expect(idsIn(await ownOf(owner))).toEqual([[good]])
  expect(damaged).toEqual(['connection'])
})

describe('an organization', () => {
  test('brings its connections while it is active, with its billing mode', async () => {
    const id = await organization()
    const one = await connection(id, { billing_mode: 'member_pays' })
    const places = (await reads().organization(id))?.offer.get('fake')
    expect(idsIn(places)).toEqual([[one]])
    expect(places?.[0]).toMatchObject({ billing: 'member_pays', organizationId: id })
    await db.updateTable('organization').set({ status: 'suspended' }).execute()
    expect(await reads().organization(id)).toBeUndefined()
    await db.updateTable('organization').set({ status: 'active' }).execute()
  })

  test('counts as offered elsewhere where it is public, or has a pending invitation for the account', async () => {
    const [caller, waiting, member] = [await user(), await user(), await user()]
    const hidden = await organization()
    await connection(hidden)
    const join = (user_id: string, status: 'pending' | 'active') =>
      db
        .insertInto('membership')
        .values({ organization_id: hidden, user_id, role: 'member', status })
        .execute()
    await join(waiting, 'pending')
    await join(member, 'active')
    const isOfferedElsewhere = (id: string) => reads().offeredToOthers(id, 'fake')
    expect(await isOfferedElsewhere(caller)).toBe(false)
    expect(await isOfferedElsewhere(waiting)).toBe(true)
    expect(await isOfferedElsewhere(member)).toBe(false)
    expect(await reads().offeredToOthers(waiting, 'other')).toBe(false)
    await db.updateTable('organization').set({ is_public: true }).where('id', '=', hidden).execute()
    expect(await isOfferedElsewhere(caller)).toBe(true)
    expect(await isOfferedElsewhere(member)).toBe(false)
  })
})

test('announces each change with its owner, except changes of the catalogue', async () => {
  const announcements: string[] = []
  const opened = new AsyncDisposableStack()
  const database = await openTestDatabase(opened)
  await using _closing = opened
  const listening = database.client()
  listening.on('notification', ({ channel, payload }) =>
    announcements.push(`${channel} ${payload}`),
  )
  await listening.connect()
  await listening.query('listen tollgate_owner; listen tollgate_catalog')
  const outer = db
  db = database.query
  try {
    const owner = await user()
    const shared = await organization()
    const expectHeard = async (...wanted: string[]) => {
      await listening.query('select 1')
      expect(announcements.splice(0)).toEqual(wanted)
    }
    await expectHeard()
    const one = await connection(owner)
    await expectHeard(`tollgate_owner ${owner}`)
    await connection(shared)
    await expectHeard(`tollgate_owner ${shared}`)
    const id = await pool(owner, [one])
    await expectHeard(`tollgate_owner ${owner}`)
    await db.deleteFrom('connection_pool').where('id', '=', id).execute()
    await expectHeard(`tollgate_owner ${owner}`)
    const membership = { organization_id: shared, user_id: owner, role: 'member' as const }
    await db
      .insertInto('membership')
      .values({ ...membership, status: 'active' })
      .execute()
    await expectHeard(`tollgate_owner ${owner}`)
    await db.deleteFrom('connection').where('id', '=', one).execute()
    await expectHeard(`tollgate_owner ${owner}`)
    await db.deleteFrom('organization').where('id', '=', shared).execute()
    await listening.query('select 1')
    expect(new Set(announcements)).toEqual(
      new Set([`tollgate_owner ${owner}`, `tollgate_owner ${shared}`]),
    )
  } finally {
    db = outer
    await listening.end()
  }
})
