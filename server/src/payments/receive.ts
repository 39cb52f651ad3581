import { sql, type Kysely } from 'kysely'
import { apply, type AppliedFact } from './apply-fact'
import { bookIn } from './book'
import { readEvent, toFact, type PaymentEvent } from './event'
import type { Fact } from './fact'
import type { PaymentEventReader } from './processor'
import type { Schema } from '../platform/db/schema'
import { invalidRequest } from '../errors'
import { reclaimCredit } from '../ledger/lease-reclaim'

/** The dependencies that book facts about payments. */
export interface BookingPorts {
  db: Kysely<Schema>
  /** Called when an account was credited. */
  onCreditAdded: (accountId: string) => void
  /** Called where an operator should look; nothing was booked. */
  onMismatch: (message: string, subject: object) => void
}

export interface ReceivePorts extends BookingPorts {
  reader: PaymentEventReader
  pause: (ms: number) => Promise<void>
  now: () => number
  /** Called for a completed payment whose payment method may be saved. */
  onPaid: (paymentId: string) => void
}

/**
 * Receives an event of the processor. Resolves when its fact is booked, or there is none. Rejects with
 * `bad_signature`, and with any failure to store it: the processor sends it again.
 */
export async function receive(
  ports: ReceivePorts,
  body: Uint8Array,
  signature: string,
): Promise<void> {
  const event = readEvent(await ports.reader.verify(body, signature))
  if (event.account || !ports.reader.isOfMode(event.livemode)) {
    const message =
      'This event belongs to another Stripe account, or to test mode while live mode is configured.'
    throw invalidRequest(null, 'not_allowed', message)
  }
  const fact = toFact(event)
  if (!fact) return
  const isTaking = fact.type === 'reversed' || (fact.type === 'refunded' && !fact.hasFailed)
  if (isTaking) await makeRoom(ports, fact)
  const outcome = await bookEvent(ports, event, fact)
  report(ports, outcome, { event: event.id, type: event.type })
  if (outcome.type === 'credited') ports.onPaid(outcome.payment.id)
}

/** Reports the outcome of a fact to the account's credit and to operators. */
export function report(
  { onCreditAdded, onMismatch }: Pick<BookingPorts, 'onCreditAdded' | 'onMismatch'>,
  outcome: AppliedFact,
  subject: object,
): void {
  if (outcome.type === 'mismatch') onMismatch(outcome.message, subject)
  // The other nodes are notified; on this one the very next request must see it.
  const isCredited = outcome.type === 'credited' || outcome.type === 'given_back'
  if (isCredited) onCreditAdded(outcome.payment.accountId)
}

/** The event and its fact are one transaction: neither is there without the other. */
const bookEvent = (
  { db }: BookingPorts,
  { id, type }: PaymentEvent,
  fact: Fact,
): Promise<AppliedFact> =>
  db.transaction().execute(async (trx) => {
    const isNew = await trx
      .insertInto('payment_event')
      .values({ id, type })
      .onConflict((conflict) => conflict.column('id').doNothing())
      .returning('id')
      .executeTakeFirst()
    return isNew ? apply(bookIn(trx), fact) : { type: 'nothing' }
  })

const maxWaitMs = 1000
const retryMs = 50
const demandSeconds = 2
/** The name in an account's line for a refund; no node has it. */
const requester = 'payments'

/** Makes nodes return what they have set aside of an account, where a refund needs it (M33). */
async function makeRoom(
  { db, pause, now }: ReceivePorts,
  { paymentRef, amount }: { paymentRef: string; amount: bigint },
): Promise<void> {
  const untilMs = now() + maxWaitMs
  for (let isRequested = false; now() < untilMs; isRequested = true) {
    const { rows } = await sql<{ id: string; posted: bigint; leased: bigint }>`
      select a.id, posted, leased from credit_account as a
      join payment on payment.account_id = a.id
      where payment.payment_ref = ${paymentRef}`.execute(db)
    const [account] = rows
    if (!account || account.leased === 0n || account.posted - account.leased >= amount) return
    if (!isRequested) {
      await reclaimCredit(db, {
        accountId: account.id,
        amount,
        by: requester,
        seconds: demandSeconds,
      })
    }
    await pause(retryMs)
  }
}
