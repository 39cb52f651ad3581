import {
  apply,
  computeRefundDue,
  type Book,
  type Payment,
  type Reversal,
} from '../../src/payments/apply-fact'
import type { Fact, PaidFact } from '../../src/payments/fact'

export const dollar = 1_000_000_000n

/** A model in memory: payments, one account for all of them, and its debt. */
export class ReferencePayments {
  readonly payments: Payment[]
  readonly recorded: (Reversal & { paymentRef: string })[] = []
  readonly refunds = new Map<string, { of: string; amount: bigint; hasFailed: boolean }>()
  balance = 0n
  debt = 0n
  /** The lowest balance so far. */
  lowest = 0n
  credits: string[] = []
  readonly taxes = new Map<string, bigint>()

  constructor(amounts: readonly bigint[]) {
    this.payments = amounts.map((amount, index) => ({
      id: `cs_${index}`,
      accountId: 'user_1',
      amount,
      status: 'pending',
      sessionId: null,
      paymentRef: null,
    }))
  }

  spend(amount: bigint): void {
    this.balance -= amount < this.balance ? amount : this.balance
  }

  readonly #find = (name: 'id' | 'sessionId' | 'paymentRef', value: string) =>
    Promise.resolve(this.payments.find((payment) => payment[name] === value))

  readonly book: Book = {
    serialize: () => Promise.resolve(),
    lock: (id) => this.#find('id', id),
    lockBySession: (sessionId) => this.#find('sessionId', sessionId),
    lockByRef: (paymentRef) => this.#find('paymentRef', paymentRef),
    complete: async (payment, paid) => {
      payment.status = 'completed'
      payment.paymentRef = paid.paymentRef
      this.credits.push(payment.id)
      this.balance += payment.amount
      const covered = this.debt < this.balance ? this.debt : this.balance
      this.debt -= covered
      this.balance -= covered
    },
    noteTax: async ({ id }, tax) => {
      if (!this.taxes.has(id)) this.taxes.set(id, tax)
    },
    end: async (payment, { type }) => {
      payment.status = type
    },
    noteReversal: async ({ reversalId: id, paymentRef, kind, amount }) => {
      const known = this.recorded.find((reversal) => reversal.id === id)
      if (!known) this.recorded.push({ id, paymentRef, kind, amount, booked: 0n })
      else if (amount > known.amount) known.amount = amount
    },
    noteRefund: async ({ refundId, chargeId: id, paymentRef, amount, hasFailed }) => {
      const known = this.recorded.some((reversal) => reversal.id === id)
      if (!known) this.recorded.push({ id, paymentRef, kind: 'refund', amount: 0n, booked: 0n })
      const refund = this.refunds.get(refundId) ?? { of: id, amount, hasFailed }
      refund.hasFailed ||= hasFailed
      this.refunds.set(refundId, refund)
    },
    reversals: async (paymentRef) =>
      this.recorded
        .filter((one) => one.paymentRef === paymentRef)
        .map((one) => ({ ...one, amount: this.#due(one) })),
    giveBack: async (_payment, reversal, amount) => {
      const known = this.recorded.find(({ id }) => id === reversal.id)
      if (known) known.booked -= amount
      this.balance += amount
      const covered = this.debt < this.balance ? this.debt : this.balance
      this.debt -= covered
      this.balance -= covered
    },
    takeBack: async (_payment, reversal, amount) => {
      const known = this.recorded.find(({ id }) => id === reversal.id)
      if (known) known.booked += amount
      const covered = amount < this.balance ? amount : this.balance
      this.balance -= covered
      this.debt += amount - covered
      if (this.balance < this.lowest) this.lowest = this.balance
    },
  }

  #due({ id, amount: inAll }: Reversal): bigint {
    const own = [...this.refunds.values()].filter(({ of }) => of === id)
    const sum = (failed: boolean) =>
      own.reduce((total, one) => (one.hasFailed === failed ? total + one.amount : total), 0n)
    return computeRefundDue({ inAll, standing: sum(false), failed: sum(true) })
  }

  reversed(paymentRef: string): bigint {
    const own = this.recorded.filter((one) => one.paymentRef === paymentRef)
    return own.reduce((total, { booked }) => total + booked, 0n)
  }
}

export interface OneRefund {
  number: number
  amount: bigint
  hasFailed: boolean
}

/** Creates a single refund of one of the payments. */
export const refundOf = (index: number, { number, amount, hasFailed }: OneRefund): Fact => ({
  type: 'refunded',
  refundId: `re_${index}_${number}`,
  chargeId: `refund_${index}`,
  paymentRef: `pi_${index}`,
  amount,
  currency: 'usd',
  hasFailed,
})

/** Creates a payment of ten dollars. */
export const paidOf = (index: number): PaidFact => ({
  type: 'paid',
  id: `cs_${index}`,
  sessionId: undefined,
  paymentRef: `pi_${index}`,
  amount: 10n * dollar,
  currency: 'usd',
})

/** Applies facts about three payments of ten dollars to a new model. */
export async function applyToReference(facts: readonly Fact[]): Promise<ReferencePayments> {
  const model = new ReferencePayments([10n * dollar, 10n * dollar, 10n * dollar])
  for (const one of facts) await apply(model.book, one)
  return model
}

/** Orders facts differently for each seed, and equally for the same seed. */
export const dropsOf = (seed: number) => (a: Fact, b: Fact) =>
  Bun.hash(JSON.stringify(a, asText), seed) < Bun.hash(JSON.stringify(b, asText), seed) ? -1 : 1
const asText = (_name: string, value: unknown) =>
  typeof value === 'bigint' ? String(value) : value

/** Creates the sum of refunds of the first payment. */
export const reversalOf = (reversalId: string, amount: bigint, currency = 'usd'): Fact => ({
  type: 'reversed',
  kind: 'refund',
  reversalId,
  paymentRef: 'pi_0',
  amount,
  currency,
})
