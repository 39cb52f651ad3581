import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { apply, type Book } from './apply'
import { bookIn } from './book'
import { ownIdName } from './event'
import { receive, type ReceivePorts } from './receive'
import type { Database } from '../db/database'
import { openTestDatabase } from '../db/database-for-tests'
import { newId } from '../db/id'
import { audit } from '../ledger/audit'
import { newCustomer } from '../ledger/customer-for-tests'
import { returnLeases } from '../ledger/return-leases'
import { takeLease } from '../ledger/take-lease'

const stack = new AsyncDisposableStack()
const dollar = 1_000_000_000n
let database: Database
let accountId: string
let mismatches: string[] = []
let ports: ReceivePorts

beforeAll(async () => {
  database = await openTestDatabase(stack)
  ports = {
    db: database.query,
    // Signatures have tests of their own, over HTTP.
    reader: {
      verify: (body) => Promise.resolve(JSON.parse(Buffer.from(body).toString())),
      isOfMode: () => true,
    },
    creditCame: () => undefined,
    onMismatch: (words) => void mismatches.push(words),
    onPaid: () => undefined,
    pause: (ms) => Bun.sleep(ms),
    now: () => performance.now(),
  }
}, 30_000)
afterAll(async () => {
  expect(await audit(database.query, {})).toEqual([])
  await stack.disposeAsync()
})
beforeEach(async () => {
  accountId = await newCustomer(database)
  mismatches = []
})

type Json = Record<string, unknown>

let events = 0
const eventOf = (type: string, object: Json) => ({ id: `evt_${++events}`, type, data: { object } })
const take = (event: object) => receive(ports, Buffer.from(JSON.stringify(event)), '')

/** An order of ten dollars, as it is before anybody has heard of it. */
async function order(kind: 'checkout' | 'automatic' = 'checkout') {
  const id = newId('cs')
  const amount = 10n * dollar
  await database.query
    .insertInto('payment')
    .values({ id, kind, account_id: accountId, user_id: accountId, amount })
    .execute()
  const paymentRef = `pi_${id}`
  const session = {
    id: `session_${id}`,
    metadata: { [ownIdName]: id },
    payment_intent: paymentRef,
    payment_status: 'paid',
    amount_total: 1000,
    currency: 'usd',
  }
  const charge = { id: `ch_${id}`, payment_intent: paymentRef, currency: 'usd' }
  const dispute = { id: `dp_${id}`, payment_intent: paymentRef, currency: 'usd' }
  return {
    id,
    completed: (changed: Json = {}) =>
      eventOf('checkout.session.completed', { ...session, ...changed }),
    succeeded: () =>
      eventOf('payment_intent.succeeded', {
        id: paymentRef,
        metadata: session.metadata,
        amount_received: 1000,
        currency: 'usd',
      }),
    declined: () =>
      eventOf('payment_intent.payment_failed', {
        id: paymentRef,
        metadata: session.metadata,
        amount_received: 0,
        currency: 'usd',
        last_payment_error: { message: 'Your card was declined.' },
      }),
    expired: () => eventOf('checkout.session.expired', { ...session, payment_status: 'unpaid' }),
    refunded: (cents: number) => eventOf('charge.refunded', { ...charge, amount_refunded: cents }),
    disputed: (status: string) =>
      eventOf('charge.dispute.closed', { ...dispute, amount: 1000, status }),
    status: async () => {
      const { status } = await database.query
        .selectFrom('payment')
        .select('status')
        .where('id', '=', id)
        .executeTakeFirstOrThrow()
      return status
    },
  }
}

async function account() {
  const { rows } = await sql<{ posted: bigint; leased: bigint; flag: boolean; debt: bigint }>`
    select posted, leased, payment_method_required as flag,
      (select coalesce(-sum(amount), 0)::bigint from ledger_entry
        where account_id = 'house:debt:' || a.id) as debt
    from credit_account as a where id = ${accountId}`.execute(database.query)
  const [row] = rows
  if (!row) throw new Error('no account')
  return row
}

const lease = (leaseId: string, need: bigint) =>
  takeLease(database.query, {
    leaseId,
    accountId,
    nodeId: 'node',
    need,
    wish: 0n,
    nodes: 1,
    lifeSeconds: 60,
  })

test('W01: one event fifty times at once is one credit', async () => {
  const { completed, status } = await order()
  const event = completed()
  await Promise.all(Array.from({ length: 50 }, () => take(event)))
  expect((await account()).posted).toBe(10n * dollar)
  expect(await status()).toBe('completed')
})

test('W02: the checkout and the payment tell of the same money', async () => {
  const { completed, succeeded } = await order()
  await Promise.all([take(succeeded()), take(completed()), take(succeeded())])
  expect((await account()).posted).toBe(10n * dollar)
})

test('W05: expired or declined after it was paid, it stays paid; paid afterwards, it is paid', async () => {
  const first = await order()
  for (const event of [first.completed(), first.expired(), first.declined()]) await take(event)
  const second = await order()
  for (const event of [second.declined(), second.expired(), second.completed()]) await take(event)
  expect([await first.status(), await second.status()]).toEqual(['completed', 'completed'])
  expect((await account()).posted).toBe(20n * dollar)
})

test('W05: what was refunded before anybody heard of its payment is taken back with it', async () => {
  const { completed, refunded } = await order()
  await take(refunded(400))
  expect((await account()).posted).toBe(0n)
  await take(completed())
  expect((await account()).posted).toBe(6n * dollar)
})

test('W05: payment, refunds and dispute at once are never told into loss', async () => {
  const { completed, refunded, disputed } = await order()
  const all = [completed(), refunded(300), refunded(500), disputed('lost'), disputed('won')]
  await Promise.all([...all, ...all].map(take))
  expect(await account()).toMatchObject({ posted: 0n, debt: 0n })
})

test('W03: whatever dies in between, the event comes again and everything is there once', async () => {
  const { completed, refunded, id } = await order()
  await take(refunded(250))
  const fact = {
    type: 'paid' as const,
    id,
    sessionId: undefined,
    paymentRef: `pi_${id}`,
    amount: 10n * dollar,
    currency: 'usd',
  }
  const steps = ['serialize', 'lock', 'complete', 'reversals', 'takeBack'] as const
  for (const step of steps) {
    const dying = database.query.transaction().execute(async (trx) => {
      const book = bookIn(trx)
      const broken: Book = {
        ...book,
        // After it was done, and before the transaction was.
        [step]: async (...given: unknown[]) => {
          await Reflect.apply(book[step], book, given)
          throw new Error('died')
        },
      }
      return apply(broken, fact)
    })
    await expect(dying).rejects.toThrow('died')
    expect((await account()).posted).toBe(0n)
  }
  await take(completed())
  expect((await account()).posted).toBe(7_500_000_000n)
})

test('W09: another amount, currency or checkout is not credited, and is told', async () => {
  const { completed, status } = await order()
  await take(completed({ amount_total: 999 }))
  await take(completed({ amount_total: 1e12 }))
  await take(completed({ currency: 'jpy' }))
  await take(completed({ metadata: { [ownIdName]: newId('cs') } }))
  // Unpaid is no mismatch: another event will tell.
  await take(completed({ payment_status: 'unpaid' }))
  expect(mismatches).toHaveLength(4)
  expect([(await account()).posted, await status()]).toEqual([0n, 'pending'])
})

test('W10: a part, another part and a lost dispute take back what was paid, and no more', async () => {
  const { completed, refunded, disputed } = await order()
  await take(completed())
  await take(refunded(300))
  expect((await account()).posted).toBe(7n * dollar)
  // Told late, it says less than is known.
  await take(refunded(200))
  await take(disputed('won'))
  expect((await account()).posted).toBe(7n * dollar)
  await take(disputed('lost'))
  await take(refunded(1000))
  expect(await account()).toMatchObject({ posted: 0n, debt: 0n, flag: false })
})

test('M33: what running requests hold is left to them; the rest is owed and paid first', async () => {
  const { completed, disputed } = await order()
  await take(completed())
  const leaseId = newId('lease')
  await lease(leaseId, 4n * dollar)
  await take(disputed('lost'))
  expect(await account()).toMatchObject({ posted: 4n * dollar, debt: 4n * dollar, flag: true })
  const mails = await database.query
    .selectFrom('mail')
    .select('body')
    .where('reference', 'like', `%owed%`)
    .execute()
  expect(mails.at(-1)?.body).toContain('$4.00 is owed')
  const { completed: paidAgain } = await order()
  await take(paidAgain())
  expect(await account()).toMatchObject({ posted: 10n * dollar, debt: 0n, flag: false })
})

test('M33: nodes are asked for what they do not use before anything is owed', async () => {
  const { completed, refunded } = await order()
  await take(completed())
  const leaseId = newId('lease')
  await lease(leaseId, 9n * dollar)
  const client = database.client()
  await client.connect()
  // A node that hears of it, and uses nothing.
  client.on('notification', ({ payload }) => {
    if (!payload?.includes(accountId)) return
    const all = [{ leaseId, amount: 9n * dollar }]
    void returnLeases(database.query, all, { isLast: true })
  })
  await client.query('listen tollgate_recall')
  await take(refunded(1000))
  await client.end()
  expect(await account()).toMatchObject({ posted: 0n, leased: 0n, debt: 0n })
})

test('M06: payments, refunds and leases that race leave nothing over and nothing short', async () => {
  const orders = await Promise.all(Array.from({ length: 10 }, () => order()))
  const leaseIds = Array.from({ length: 10 }, () => newId('lease'))
  const racing = [
    ...orders.flatMap(({ completed, succeeded, refunded }, index) => [
      () => take(completed()),
      () => take(succeeded()),
      () => take(refunded(index * 100)),
    ]),
    ...leaseIds.map((leaseId) => () => lease(leaseId, 3n * dollar)),
  ]
  await Promise.all(racing.toSorted(() => Math.random() - 0.5).map((run) => run()))
  // Ten payments of ten dollars, of which 0 to 9 were refunded.
  const { posted, debt } = await account()
  expect(posted - debt).toBe(55n * dollar)
})

test('an automatic payment that failed asks its customer to pay, once', async () => {
  const { declined, succeeded } = await order('automatic')
  await Promise.all([take(declined()), take(declined())])
  expect((await account()).flag).toBe(true)
  const told = await database.query
    .selectFrom('notification')
    .select(['kind', 'title'])
    .where('user_id', '=', accountId)
    .execute()
  expect(told).toEqual([{ kind: 'system', title: 'Automatic recharge failed' }])
  await take(succeeded())
  expect(await account()).toMatchObject({ posted: 10n * dollar, flag: false })
})

test('events of other things are acknowledged, unread; damaged ones are not', async () => {
  await take(eventOf('customer.created', {}))
  await take(eventOf('charge.refunded', { id: 'ch_x', amount_refunded: 5, currency: 'usd' }))
  await expect(take(eventOf('charge.refunded', { id: 'ch_x' }))).rejects.toThrow()
  expect(mismatches).toEqual([])
})
