import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import { AuditDelivery } from './delivery'
import { measureOutbox, recordProgress, takeDestinations } from './outbox'
import { sealAuditDestination } from './secret'
import type { SendPorts } from './send-entries'
import { recordChange } from '../organization-trail'
import { openTestDatabase } from '../../../testing/db/database'
import { createSigningKey, signatureHeaders } from '../../notifications/destination'
import type { Database } from '../../platform/db/database'
import { newId } from '../../platform/db/id'
import type { SealingKeys } from '../../platform/db/sealed'

const stack = new AsyncDisposableStack()
let database: Database
const sealingKeys: SealingKeys = [{ id: 'test', key: randomBytes(32) }]

beforeAll(async () => {
  database = await openTestDatabase(stack)
})
afterAll(() => stack.disposeAsync())

type Call = Parameters<SendPorts['send']>[0]
let calls: Call[] = []
let streams: string[] = []
let organizationId: string

beforeEach(async () => {
  await sql`delete from audit_destination`.execute(database.query)
  await sql`delete from audit_outbox`.execute(database.query)
  calls = []
  streams = []
  organizationId = newId('org')
  await sql`
    insert into organization (id, name, billing_email)
    values (${organizationId}, 'Audited', 'bills@example.com')`.execute(database.query)
})

/** Answers with this status, or with that of each call. */
const deliveryTo = (status: number | (() => number)) =>
  new AuditDelivery({
    db: database.query,
    sealingKeys,
    send: async (call) => {
      calls.push(call)
      return { status: typeof status === 'number' ? status : status(), cancel: () => undefined }
    },
    sendStream: async ({ bytes }) => {
      streams.push(Buffer.from(bytes).toString())
      if (status !== 200) throw new Error('cut')
    },
    onFailure: (error) => {
      throw error
    },
  })

async function deliver(delivery: AuditDelivery): Promise<void> {
  await delivery.startDue()
  await delivery.waitForRunning()
}

interface Made {
  owner?: string | null
  url?: string
  key?: string
}

async function createDestination({ owner = null, url, key }: Made = {}): Promise<string> {
  const id = newId('sink')
  await database.query
    .insertInto('audit_destination')
    .values({
      ...sealAuditDestination(id, { url: url ?? 'https://siem.example/in', key }, sealingKeys),
      id,
      organization_id: owner,
      name: 'SIEM',
      kind: url?.startsWith('tls:') ? 'syslog' : 'webhook',
      shown_url: 'https://siem.example',
      enabled: true,
    })
    .execute()
  return id
}

const changeOrganization = (name: string, organization = organizationId) =>
  recordChange(database.query, {
    organizationId: organization,
    action: 'organization.changed',
    objectId: organization,
    objectName: name,
    after: { name },
  })

const changeConfig = () =>
  sql`
    insert into audit_trail (id, method, route, object_kind, concerned, request_id)
    values (${newId('trail')}, 'PUT', '/api/admin/config', 'config', '{}', 'req_1')`.execute(
    database.query,
  )

const makeDue = () =>
  sql`update audit_destination set next_attempt_at = now(), leased_until = null`.execute(
    database.query,
  )

const destinations = () => database.query.selectFrom('audit_destination').selectAll().execute()
const waiting = async () => (await measureOutbox(database.query)).waiting
const sentNames = () => calls.map(({ body }) => JSON.parse(body).data.object_name)

test('the installation receives the entries of all audit logs, an organization its own', async () => {
  await createDestination()
  await createDestination({ owner: organizationId })
  await changeConfig()
  await changeOrganization('Ours')
  await changeOrganization('Foreign', newId('org'))
  await deliver(deliveryTo(204))
  const sent = Map.groupBy(calls, ({ owner }) => owner)
  const logs = sent.get(null)?.map(({ body }) => JSON.parse(body).data.log)
  expect(logs).toEqual(['operators', 'organization', 'organization'])
  expect(sent.get(organizationId)).toHaveLength(1)
  expect(await waiting()).toBe(0)
})

test('an entry is a signed event under the id of the entry', async () => {
  const key = createSigningKey()
  await createDestination({ key })
  await changeOrganization('Signed')
  await deliver(deliveryTo(200))
  const [call] = calls
  const { type, data } = JSON.parse(call?.body ?? '')
  expect(type).toBe('audit.entry')
  expect(data).toMatchObject({ log: 'organization', organization_id: organizationId })
  const atMs = Number(call?.headers['webhook-timestamp']) * 1000
  const signed = { id: data.id, atMs, body: call?.body ?? '' }
  expect(call?.headers).toMatchObject(signatureHeaders({ url: '', key }, signed))
})

test('a refused entry is sent again in order, also by another process, and none is lost', async () => {
  await createDestination()
  for (const name of ['1', '2', '3']) await changeOrganization(name)
  let attempts = 0
  await deliver(deliveryTo(() => (++attempts === 2 ? 500 : 200)))
  expect(sentNames()).toEqual(['1', '2'])
  expect(await destinations()).toMatchObject([
    { failures: 1, delivered: 1n, last_error: 'The answer was 500.', leased_until: null },
  ])
  // Not before its pause is over.
  await deliver(deliveryTo(200))
  expect(sentNames()).toEqual(['1', '2'])
  await makeDue()
  await deliver(deliveryTo(200))
  expect(sentNames()).toEqual(['1', '2', '2', '3'])
  expect(await destinations()).toMatchObject([{ failures: 0, delivered: 3n, failing_since: null }])
  expect(await waiting()).toBe(0)
})

test('an entry that is committed after later ones were sent is sent too', async () => {
  await createDestination()
  await database.query.transaction().execute(async (trx) => {
    await recordChange(trx, {
      organizationId,
      action: 'organization.changed',
      objectId: organizationId,
      objectName: 'slow',
      after: { name: 'slow' },
    })
    await changeOrganization('fast')
    await deliver(deliveryTo(200))
  })
  await deliver(deliveryTo(200))
  expect(sentNames()).toEqual(['fast', 'slow'])
})

test('a destination that is down lets its entries wait, and delays no other', async () => {
  const down = await createDestination({ owner: organizationId })
  await createDestination()
  await changeOrganization('1')
  const delivery = new AuditDelivery({
    db: database.query,
    sealingKeys,
    send: async ({ owner }) => {
      if (owner !== null) throw new Error('down')
      return { status: 200, cancel: () => undefined }
    },
    sendStream: async () => undefined,
    onFailure: (error) => {
      throw error
    },
  })
  await deliver(delivery)
  expect(delivery.counts).toEqual({ delivered: 1, failures: 1 })
  expect(await measureOutbox(database.query)).toMatchObject({ waiting: 1, failing: 1 })
  const [failing] = (await destinations()).filter(({ id }) => id === down)
  // The reason maps no network.
  expect(failing?.last_error).toBe(
    'The address was not reached, or closed the connection too early.',
  )
})

test('while a destination is disabled its entries wait', async () => {
  await createDestination()
  await sql`update audit_destination set enabled = false`.execute(database.query)
  await changeOrganization('1')
  await deliver(deliveryTo(200))
  expect([calls.length, await waiting()]).toEqual([0, 1])
  await sql`update audit_destination set enabled = true`.execute(database.query)
  await deliver(deliveryTo(200))
  expect([calls.length, await waiting()]).toEqual([1, 0])
})

test('a run that has outlived its lease records nothing', async () => {
  await createDestination()
  await changeOrganization('1')
  const [late] = await takeDestinations(database.query, 8)
  if (!late) throw new Error('nothing was taken')
  expect(await takeDestinations(database.query, 8)).toEqual([])
  await makeDue()
  await takeDestinations(database.query, 8)
  const progress = { donePositions: [1n], takenCount: 1, error: undefined }
  expect(await recordProgress(database.query, late, progress)).toBe(false)
  expect(await waiting()).toBe(1)
})

test('a syslog server receives frames in order, and unconfirmed ones again', async () => {
  await createDestination({ url: 'tls://siem.example:6514' })
  for (const name of ['1', '2']) await changeOrganization(name)
  await deliver(deliveryTo(500))
  expect(await waiting()).toBe(2)
  await makeDue()
  await deliver(deliveryTo(200))
  const [first, second] = streams
  expect(second).toBe(first ?? '')
  const names = [...(second ?? '').matchAll(/"object_name":"(\d)"/g)].map(([, name]) => name)
  expect(names).toEqual(['1', '2'])
  expect(await waiting()).toBe(0)
})

test('an entry that its retention deleted before it was sent is left out', async () => {
  const id = await createDestination()
  await sql`
    insert into audit_outbox (destination_id, entry_id) values (${id}, ${newId('trail')})`.execute(
    database.query,
  )
  await changeOrganization('1')
  await deliver(deliveryTo(200))
  expect(sentNames()).toEqual(['1'])
  expect(await waiting()).toBe(0)
})

test('entries arrive in order through failures and restarts, each at least once', async () => {
  await createDestination()
  const names = Array.from({ length: 20 }, (_, index) => String(index))
  for (const name of names) await changeOrganization(name)
  let attempts = 0
  const taken: string[] = []
  while ((await waiting()) > 0) {
    await makeDue()
    // Each round is another process.
    await deliver(deliveryTo(() => (++attempts % 4 === 0 ? 503 : 200)))
  }
  attempts = 0
  for (const name of sentNames()) if (++attempts % 4 !== 0) taken.push(name)
  expect(taken).toEqual(names)
})
