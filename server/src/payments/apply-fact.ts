import type { Fact, PaidFact, RefundFact, ReversalFact, UnpaidFact } from './fact'

/** The stored state of a payment. Amounts are nano-dollars. */
export interface Payment {
  id: string
  accountId: string
  amount: bigint
  status: 'pending' | 'failed' | 'expired' | 'completed'
  sessionId: string | null
  paymentRef: string | null
}

/** The amount to take back of a payment, as far as events reported it, and the amount booked. */
export interface Reversal {
  id: string
  kind: 'refund' | 'dispute'
  amount: bigint
  booked: bigint
}

/** Payments and their money, in one transaction: all of it or nothing. */
export interface Book {
  /** Serializes facts about one payment of the processor. */
  serialize: (paymentRef: string) => Promise<void>
  /** Locks the payment of that id until the transaction ends. */
  lock: (id: string) => Promise<Payment | undefined>
  lockBySession: (sessionId: string) => Promise<Payment | undefined>
  lockByRef: (paymentRef: string) => Promise<Payment | undefined>
  /** Adds the amount to its account, and pays the account's debt. */
  complete: (payment: Payment, paid: PaidFact) => Promise<void>
  /** Keeps the tax in the payment; what was kept before stays. */
  noteTax: (payment: Payment, tax: bigint) => Promise<void>
  end: (payment: Payment, unpaid: UnpaidFact) => Promise<void>
  /** Keeps the larger of two amounts that events report for one reversal. */
  noteReversal: (reversal: ReversalFact) => Promise<void>
  /** Keeps a refund; one that has failed stays so. */
  noteRefund: (refunded: RefundFact) => Promise<void>
  /** Returns reversals with the amounts of `computeRefundDue`. */
  reversals: (paymentRef: string) => Promise<Reversal[]>
  /** Takes `amount` more of it from the account, or books that as a debt. */
  takeBack: (payment: Payment, reversal: Reversal, amount: bigint) => Promise<void>
  /** Returns `amount` of it to the account, and pays the account's debt. */
  giveBack: (payment: Payment, reversal: Reversal, amount: bigint) => Promise<void>
}

/** The reported refunds of a charge. */
export interface ReportedRefunds {
  /**
   * The largest sum of refunds that any event of the charge reported: it may include those that failed later, or
   * not.
   */
  inAll: bigint
  /** The sums of refunds that were reported one by one. */
  standing: bigint
  failed: bigint
}

/**
 * Returns the amount that refunds of a charge take back. Where each refund is reported by itself, they determine
 * it; where only sums and failures are reported, those two do.
 */
export function computeRefundDue({ inAll, standing, failed }: ReportedRefunds): bigint {
  const rest = inAll - failed
  return rest > standing ? rest : standing
}

/** The outcome of a fact. */
export type AppliedFact =
  | { type: 'credited' | 'reversed' | 'given_back' | 'ended'; payment: Payment }
  /** Not a payment of ours, or booked already. */
  | { type: 'nothing' }
  /** Needs an operator's attention; nothing was booked. */
  | { type: 'mismatch'; message: string }

const noEffect: AppliedFact = { type: 'nothing' }

/** The later of two states wins, in whatever order their events arrive. */
const rank = { pending: 0, failed: 1, expired: 2, completed: 3 }

/**
 * Books a fact, once however often it is reported, and with the same end in any order: a reversal that arrives
 * before its payment waits for it.
 */
export function apply(book: Book, fact: Fact): Promise<AppliedFact> {
  if (fact.type === 'paid') return applyPaid(book, fact)
  if (fact.type === 'reversed') return applyReversed(book, fact, () => book.noteReversal(fact))
  if (fact.type === 'refunded') return applyReversed(book, fact, () => book.noteRefund(fact))
  return applyUnpaid(book, fact)
}

async function applyPaid(book: Book, paid: PaidFact): Promise<AppliedFact> {
  await book.serialize(paid.paymentRef)
  const payment = (await findPayment(book, paid)) ?? (await book.lockByRef(paid.paymentRef))
  if (!payment && paid.id === undefined) return noEffect
  if (!payment) return { type: 'mismatch', message: 'a payment for an order that is not known' }
  const mismatch = mismatchOf(payment, paid)
  if (mismatch !== undefined) return { type: 'mismatch', message: mismatch }
  // Another event, which knows of no tax, may have come first.
  if (paid.tax !== undefined) await book.noteTax(payment, paid.tax)
  if (payment.status === 'completed') return noEffect
  await book.complete(payment, paid)
  await settleReversals(book, payment, paid.paymentRef)
  return { type: 'credited', payment }
}

/** Finds the payment by our name of it, else by that of its checkout. */
async function findPayment(
  book: Book,
  { id, sessionId }: Pick<PaidFact, 'id' | 'sessionId'>,
): Promise<Payment | undefined> {
  if (id !== undefined) return book.lock(id)
  return sessionId === undefined ? undefined : book.lockBySession(sessionId)
}

/** Returns why a payment differs from the order. */
function mismatchOf(payment: Payment, paid: PaidFact): string | undefined {
  if (paid.currency !== 'usd') return 'a payment in another currency than its order'
  if (paid.amount !== payment.amount) return 'a payment of another amount than its order'
  const isOtherSession =
    paid.sessionId !== undefined &&
    payment.sessionId !== null &&
    paid.sessionId !== payment.sessionId
  if (isOtherSession) return 'a payment by another checkout than that of its order'
  const isOtherPayment = payment.paymentRef !== null && payment.paymentRef !== paid.paymentRef
  return isOtherPayment ? 'a second payment for one order' : undefined
}

async function applyUnpaid(book: Book, unpaid: UnpaidFact): Promise<AppliedFact> {
  const payment = await findPayment(book, unpaid)
  if (!payment) return noEffect
  const isOther =
    unpaid.sessionId !== undefined &&
    payment.sessionId !== null &&
    unpaid.sessionId !== payment.sessionId
  if (isOther || rank[unpaid.type] <= rank[payment.status]) return noEffect
  await book.end(payment, unpaid)
  return { type: 'ended', payment }
}

async function applyReversed(
  book: Book,
  { currency, paymentRef }: ReversalFact | RefundFact,
  note: () => Promise<void>,
): Promise<AppliedFact> {
  if (currency !== 'usd') {
    return { type: 'mismatch', message: 'a refund or dispute in another currency than its payment' }
  }
  await book.serialize(paymentRef)
  await note()
  const payment = await book.lockByRef(paymentRef)
  if (payment?.status !== 'completed') return noEffect
  const hasReturned = await settleReversals(book, payment, paymentRef)
  return { type: hasReturned ? 'given_back' : 'reversed', payment }
}

/**
 * Never takes more than was paid, whatever is refunded and disputed at once. Returns money first: what one
 * reversal leaves another may take. Resolves with whether anything was returned to the account.
 */
async function settleReversals(book: Book, payment: Payment, paymentRef: string): Promise<boolean> {
  const reversals = await book.reversals(paymentRef)
  let remaining = payment.amount - reversals.reduce((total, { booked }) => total + booked, 0n)
  const overbooked = reversals.filter(({ amount, booked }) => booked > amount)
  for (const reversal of overbooked) {
    const amount = reversal.booked - reversal.amount
    remaining += amount
    await book.giveBack(payment, reversal, amount)
  }
  for (const reversal of reversals) {
    const due = reversal.amount - reversal.booked
    const amount = due < remaining ? due : remaining
    if (amount <= 0n) continue
    remaining -= amount
    await book.takeBack(payment, reversal, amount)
  }
  return overbooked.length > 0
}
