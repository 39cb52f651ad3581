import { expect } from 'bun:test'
import { sql } from 'kysely'
import { ownIdName } from '../../src/payments/event'
import { receive, type ReceivePorts } from '../../src/payments/receive'
import type { Database } from '../../src/platform/db/database'
import { openTestDatabase } from '../db/database'
import { newId } from '../../src/platform/db/id'
import { findViolations } from '../../src/ledger/audit'
import { createCustomer } from '../ledger/customer'
import { takeLease } from '../../src/ledger/take-lease'

type Json = Record<string, unknown>

const dollar = 1_000_000_000n

let events = 0
const eventOf = (type: string, object: Json) => ({ id: `evt_${++events}`, type, data: { object } })

/** Orders, and events about them, on a database of their own; on disposal its ledger must be in order. */
export class Orders implements AsyncDisposable {
  readonly database: Database
  accountId = ''
  mismatches: string[] = []
  readonly #ports: ReceivePorts
  readonly #stack: AsyncDisposableStack

  private constructor(database: Database, stack: AsyncDisposableStack) {
    this.database = database
    this.#stack = stack
    let pausedMs = 0
    this.#ports = {
      db: database.query,
      // Signatures have tests of their own, over HTTP.
      reader: {
        verify: (body) => Promise.resolve(JSON.parse(Buffer.from(body).toString())),
        isOfMode: () => true,
      },
      onCreditAdded: () => undefined,
      onMismatch: (message) => void this.mismatches.push(message),
      onPaid: () => undefined,
      // The time that passes is that of the pauses: a machine that stands still takes none of it from the nodes.
      pause: async (ms) => {
        await Bun.sleep(ms)
        pausedMs += ms
      },
      now: () => pausedMs,
    }
  }

  static async open(): Promise<Orders> {
    const stack = new AsyncDisposableStack()
    return new Orders(await openTestDatabase(stack), stack)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    expect(await findViolations(this.database.query, {})).toEqual([])
    await this.#stack.disposeAsync()
  }

  /** The account that the next orders are for. */
  async newAccount(): Promise<void> {
    this.accountId = await createCustomer(this.database)
    this.mismatches = []
  }

  event(type: string, object: Json): object {
    return eventOf(type, object)
  }

  take(event: object): Promise<void> {
    return receive(this.#ports, Buffer.from(JSON.stringify(event)), '')
  }

  /** Creates an order of ten dollars, before the processor has reported anything. */
  async order(kind: 'checkout' | 'automatic' = 'checkout') {
    const { accountId, database } = this
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
      refunded: (cents: number) =>
        eventOf('charge.refunded', { ...charge, amount_refunded: cents }),
      refund: (type: string, changed: Json) =>
        eventOf(type, { ...charge, id: `re_${id}`, charge: charge.id, amount: 400, ...changed }),
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

  async account() {
    const { accountId, database } = this
    const { rows } = await sql<{ posted: bigint; leased: bigint; flag: boolean; debt: bigint }>`
      select posted, leased, payment_method_required as flag,
        (select coalesce(-sum(amount), 0)::bigint from ledger_entry
          where account_id = 'house:debt:' || a.id) as debt
      from credit_account as a where id = ${accountId}`.execute(database.query)
    const [row] = rows
    if (!row) throw new Error('no account')
    return row
  }

  lease(leaseId: string, need: bigint) {
    return takeLease(this.database.query, {
      generation: 0,
      isReclaiming: false,
      leaseId,
      accountId: this.accountId,
      nodeId: 'node',
      need,
      wish: 0n,
      nodes: 1,
      lifeSeconds: 60,
      demandSeconds: 2,
    })
  }
}
