import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import { createDeliver, type DeliverOptions } from './deliver'
import { DeliveryQueue } from './delivery-queue'
import { createSigningKey, sealDestination } from './destination'
import { queueEvent } from './events'
import { openTestDatabase } from '../../testing/db/database'
import { TestPeers } from '../../testing/http/peers'
import { createCustomer } from '../../testing/ledger/customer'
import type { Database } from '../platform/db/database'
import { ofAccount } from '../platform/db/account-row'
import { newId } from '../platform/db/id'
import type { SealingKeys } from '../platform/db/sealed'
import { LocalAnswer } from '../upstream/http/answer'

const stack = new AsyncDisposableStack()
let database: Database
const sealingKeys: SealingKeys = [{ id: 'test', key: randomBytes(32) }]

beforeAll(async () => {
  database = await openTestDatabase(stack)
})
afterAll(() => stack.disposeAsync())

type Call = Parameters<DeliverOptions['send']>[0]
let calls: Call[] = []
let userId: string
beforeEach(async () => {
  await sql`delete from notification_destination`.execute(database.query)
  calls = []
  userId = await createCustomer(database)
})

/** Rethrows, so that the test fails. */
const onFailure = (error: unknown) => {
  throw error
}

const queueOf = (send: DeliverOptions['send']) => {
  const { query: db } = database
  return new DeliveryQueue({ db, deliver: createDeliver({ db, sealingKeys, send }), onFailure })
}

/** Makes one attempt for each destination with a due delivery. */
async function deliverDue(queue: DeliveryQueue): Promise<void> {
  await queue.startDue()
  await queue.waitForRunning()
}

/** Answers each call with this status. */
const answering =
  (status: number, text = 'fine'): DeliverOptions['send'] =>
  async (call) => {
    calls.push(call)
    return new LocalAnswer(new Response(text, { status }))
  }

interface Made {
  url?: string
  kind?: 'webhook' | 'slack'
  key?: string
  previous?: { key: string; until: number }
}

async function createDestination(made: Made = {}, owner = userId): Promise<string> {
  const { url = 'https://one.example/hook', kind = 'webhook', ...keys } = made
  const { key = createSigningKey(), previous } = keys
  const id = newId('dest')
  await database.query
    .insertInto('notification_destination')
    .values({
      ...sealDestination(id, { url, key, previous }, sealingKeys),
      id,
      kind,
      user_id: owner,
      name: 'Operations',
      shown_url: 'https://one.example',
      events: ['balance.low'],
      enabled: true,
    })
    .execute()
  return id
}

const raise = (body = 'Low.', owner = userId) =>
  queueEvent(database.query, {
    owner: ofAccount(owner),
    type: 'balance.low',
    data: { title: 'T', body },
  })

const makeDue = () =>
  sql`
    update notification_delivery
    set next_attempt_at = now(), leased_until = leased_until - interval '60 seconds'
  `.execute(database.query)
const deliveries = () =>
  database.query.selectFrom('notification_delivery').selectAll().orderBy('id').execute()
const destinations = () =>
  database.query.selectFrom('notification_destination').selectAll().execute()

/** Computes a signature with WebCrypto, as a receiver of another make would. */
async function independentSignature(key: string, { headers, body }: Call): Promise<string> {
  const bytes = Uint8Array.from(atob(key.replace('whsec_', '')), (mark) => mark.charCodeAt(0))
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const imported = await crypto.subtle.importKey('raw', bytes, algorithm, false, ['sign'])
  const content = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
  const mac = await crypto.subtle.sign('HMAC', imported, new TextEncoder().encode(content))
  return `v1,${btoa(String.fromCharCode(...new Uint8Array(mac)))}`
}

test('a delivery is signed over id, time and body, with both keys after a rotation', async () => {
  const [key, old] = [createSigningKey(), createSigningKey()]
  await createDestination({ key, previous: { key: old, until: Date.now() + 60_000 } })
  await raise()
  await deliverDue(queueOf(answering(204)))
  const [call] = calls
  if (!call) throw new Error('nothing was sent')
  expect(call.headers['webhook-signature']).toBe(
    `${await independentSignature(key, call)} ${await independentSignature(old, call)}`,
  )
  expect(JSON.parse(call.body)).toMatchObject({ type: 'balance.low', data: { body: 'Low.' } })
  expect(await deliveries()).toMatchObject([{ status: 'delivered', attempts: 1 }])
})

test('an event reaches destinations of its account only, and those that take it', async () => {
  const stranger = await createCustomer(database)
  await createDestination({}, stranger)
  await raise()
  await queueEvent(database.query, {
    owner: ofAccount(stranger),
    type: 'ticket.replied',
    data: { title: 'T', body: 'B' },
  })
  expect(await deliveries()).toEqual([])
})

test('a failed delivery is retried after growing pauses under one id, until three days are over', async () => {
  await createDestination()
  await raise()
  const queue = queueOf(answering(500, 'x'.repeat(3000)))
  const waits: number[] = []
  for (const _attempt of [1, 2, 3, 4, 5, 6, 7]) {
    await makeDue()
    await deliverDue(queue)
    const { rows } = await sql<{ wait: number }>`
      select extract(epoch from next_attempt_at - last_attempt_at)::float8 as wait
      from notification_delivery`.execute(database.query)
    waits.push(Math.round(rows[0]?.wait ?? 0))
  }
  expect(waits).toEqual([5, 300, 1800, 7200, 18_000, 36_000, 36_000])
  expect(new Set(calls.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
  await sql`update notification_delivery set expires_at = now()`.execute(database.query)
  await makeDue()
  await deliverDue(queue)
  const [row] = await deliveries()
  expect(row).toMatchObject({ status: 'failed', attempts: 8, response_status: 500 })
  expect(row?.response_text).toHaveLength(1024)
})

test('a delivery whose record was lost is sent again under the same id', async () => {
  await createDestination()
  await raise()
  const ended = createDeliver({
    db: database.query,
    sealingKeys,
    send: async (call) => {
      calls.push(call)
      throw new Error('the process ended')
    },
  })
  const { query: db } = database
  const stop = new AbortController()
  // A stop between sending and the record leaves none.
  const lost: unknown[] = []
  const deliver: typeof ended = (delivery) => (stop.abort(), ended(delivery, stop.signal))
  await deliverDue(new DeliveryQueue({ db, deliver, onFailure: (error) => lost.push(error) }))
  expect(lost).toHaveLength(1)
  expect(await deliveries()).toMatchObject([{ status: 'waiting', last_attempt_at: null }])
  await makeDue()
  await deliverDue(queueOf(answering(200)))
  expect(calls).toHaveLength(2)
  expect(calls[0]?.headers['webhook-id']).toBe(calls[1]?.headers['webhook-id'])
})

test('an address that is gone, or has failed for three days, is disabled with a notice', async () => {
  await createDestination()
  await raise()
  await raise()
  await deliverDue(queueOf(answering(410)))
  expect(await destinations()).toMatchObject([{ enabled: false }])
  expect(await deliveries()).toMatchObject([
    { status: 'failed', response_status: 410 },
    { status: 'failed', attempts: 0, error: 'The destination was disabled.' },
  ])
  await sql`
    update notification_destination set enabled = true, failing_since = now() - interval '4 days'
  `.execute(database.query)
  await raise()
  await deliverDue(queueOf(answering(503)))
  expect(await destinations()).toMatchObject([{ enabled: false }])
  const notices = await database.query
    .selectFrom('notification')
    .selectAll()
    .where('user_id', '=', userId)
    .execute()
  expect(notices).toHaveLength(2)
})

test('two nodes deliver each event once, one after another for a destination', async () => {
  await createDestination()
  await createDestination()
  for (const body of ['1', '2', '3']) await raise(body)
  const gate = Promise.withResolvers<void>()
  const slow: DeliverOptions['send'] = async (call) => {
    await gate.promise
    return answering(200)(call)
  }
  const nodes = [queueOf(slow), queueOf(slow)]
  await Promise.all(nodes.map((node) => node.startDue()))
  await Promise.all(nodes.map((node) => node.startDue()))
  const running = (await deliveries()).filter(({ attempts }) => attempts > 0)
  expect(running).toHaveLength(2)
  expect(new Set(running.map(({ destination_id: id }) => id)).size).toBe(2)
  gate.resolve()
  await Promise.all(nodes.map((node) => node.waitForRunning()))
  for (const node of nodes) for (const _turn of [1, 2]) await deliverDue(node)
  expect(calls.map(({ body }) => JSON.parse(body).data.body)).toEqual([
    '1',
    '1',
    '2',
    '2',
    '3',
    '3',
  ])
  expect(new Set(calls.map(({ headers }) => headers['webhook-id'])).size).toBe(6)
})

test('an attempt that outlived its lease does not undo the record of the next', async () => {
  await createDestination()
  await raise()
  const gate = Promise.withResolvers<void>()
  const late = queueOf(async (call) => {
    await gate.promise
    return answering(500)(call)
  })
  await late.startDue()
  await makeDue()
  await deliverDue(queueOf(answering(200)))
  gate.resolve()
  await late.waitForRunning()
  expect(await deliveries()).toMatchObject([{ status: 'delivered', attempts: 2 }])
  expect(await destinations()).toMatchObject([{ failing_since: null }])
})

const zoneOf = (name: string) => ({
  addresses: [name === 'one.example' ? '127.0.0.2' : '127.0.0.1'],
})

test('X05: private addresses are not reached, and redirects are not followed', async () => {
  using peers = new TestPeers()
  const peer = await peers.peer((socket) =>
    socket.write(
      `HTTP/1.1 302 Found\r\nlocation: https://127.0.0.1:${peer.port}/\r\ncontent-length: 0\r\n\r\n`,
    ),
  )
  await peers.forbidden('127.0.0.1', peer.port)
  const { guarded } = await peers.guarded(zoneOf, { ports: [peer.port] })
  for (const host of ['one.example', 'two.example', '127.0.0.1', '10.0.0.1']) {
    await createDestination({ url: `https://${host}:${peer.port}/hook` })
  }
  await raise()
  await deliverDue(queueOf((call) => guarded.send(call)))
  const rows = await deliveries()
  const answered = rows.filter(({ response_status: status }) => status !== null)
  expect(rows).toHaveLength(4)
  expect(answered).toMatchObject([{ response_status: 302, status: 'waiting' }])
  expect([peers.trespassers, peer.connections]).toEqual([[], 1])
})
