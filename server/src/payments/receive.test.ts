import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { apply, type Book } from './apply-fact'
import { bookIn } from './book'
import { ownIdName } from './event'
import { Orders } from '../../testing/payments/orders'
import { newId } from '../platform/db/id'
import { returnLeases } from '../ledger/return-leases'

const dollar = 1_000_000_000n
let orders: Orders

beforeAll(async () => {
  orders = await Orders.open()
})
afterAll(() => orders[Symbol.asyncDispose]())
beforeEach(() => orders.newAccount())

const take = (event: object) => orders.take(event)
const order = (kind?: 'checkout' | 'automatic') => orders.order(kind)
const account = () => orders.account()
const lease = (leaseId: string, need: bigint) => orders.lease(leaseId, need)

test('W01: credits one event once that arrives fifty times at once', async () => {
  const { completed, status } = await order()
  const event = completed()
  await Promise.all(Array.from({ length: 50 }, () => take(event)))
  expect((await account()).posted).toBe(10n * dollar)
  expect(await status()).toBe('completed')
})

test('W02: credits once for the events of the checkout and its payment', async () => {
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

test('W05: applies a refund that arrives before its payment', async () => {
  const { completed, refunded } = await order()
  await take(refunded(400))
  expect((await account()).posted).toBe(0n)
  await take(completed())
  expect((await account()).posted).toBe(6n * dollar)
})

test('W05: concurrent payment, refunds and dispute never cause a loss', async () => {
  const { completed, refunded, disputed } = await order()
  const all = [completed(), refunded(300), refunded(500), disputed('lost'), disputed('won')]
  await Promise.all([...all, ...all].map(take))
  expect(await account()).toMatchObject({ posted: 0n, debt: 0n })
})

test('W03: books an event once that is delivered again after a crash at any point', async () => {
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
    const dying = orders.database.query.transaction().execute(async (trx) => {
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

test('W09: reports another amount, currency or checkout without crediting it', async () => {
  const { completed, status } = await order()
  await take(completed({ amount_total: 999 }))
  await take(completed({ amount_total: 1e12 }))
  await take(completed({ currency: 'jpy' }))
  await take(completed({ metadata: { [ownIdName]: newId('cs') } }))
  // Unpaid is no mismatch: another event will tell.
  await take(completed({ payment_status: 'unpaid' }))
  expect(orders.mismatches).toHaveLength(4)
  expect([(await account()).posted, await status()]).toEqual([0n, 'pending'])
})

test('W10: partial refunds and a lost dispute take back exactly the payment', async () => {
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

test('M33: running requests keep their holds; the rest becomes a debt that is paid first', async () => {
  const { completed, disputed } = await order()
  await take(completed())
  const leaseId = newId('lease')
  await lease(leaseId, 4n * dollar)
  await take(disputed('lost'))
  expect(await account()).toMatchObject({ posted: 4n * dollar, debt: 4n * dollar, flag: true })
  const mails = await orders.database.query
    .selectFrom('mail')
    .select('body')
    .where('reference', 'like', `%owed%`)
    .execute()
  expect(mails.at(-1)?.body).toContain('$4.00 is owed')
  const { completed: paidAgain } = await order()
  await take(paidAgain())
  expect(await account()).toMatchObject({ posted: 10n * dollar, debt: 0n, flag: false })
})

test('M33: reclaims unused credit from nodes before recording a debt', async () => {
  const { completed, refunded } = await order()
  await take(completed())
  const leaseId = newId('lease')
  await lease(leaseId, 9n * dollar)
  const client = orders.database.client()
  await client.connect()
  // A node that hears of it, and uses nothing.
  client.on('notification', ({ payload }) => {
    if (!payload?.includes(orders.accountId)) return
    const all = [{ leaseId, generation: 1, amount: 9n * dollar }]
    const how = { isLast: true, isSkipping: false, lockMs: 5000 }
    void returnLeases(orders.database.query, all, how)
  })
  await client.query('listen tollgate_recall')
  await take(refunded(1000))
  await client.end()
  expect(await account()).toMatchObject({ posted: 0n, leased: 0n, debt: 0n })
})

test('M06: concurrent payments, refunds and leases leave consistent balances', async () => {
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

test('a failed automatic payment notifies its customer to pay, once', async () => {
  const { declined, succeeded } = await order('automatic')
  await Promise.all([take(declined()), take(declined())])
  expect((await account()).flag).toBe(true)
  const notifications = await orders.database.query
    .selectFrom('notification')
    .select(['kind', 'title'])
    .where('user_id', '=', orders.accountId)
    .execute()
  expect(notifications).toEqual([{ kind: 'system', title: 'Automatic recharge failed' }])
  await take(succeeded())
  expect(await account()).toMatchObject({ posted: 10n * dollar, flag: false })
})

test('acknowledges unrelated events, and rejects damaged ones', async () => {
  await take(orders.event('customer.created', {}))
  await take(orders.event('charge.refunded', { id: 'ch_x', amount_refunded: 5, currency: 'usd' }))
  await expect(take(orders.event('charge.refunded', { id: 'ch_x' }))).rejects.toThrow()
  expect(orders.mismatches).toEqual([])
})
