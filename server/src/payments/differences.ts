import type { PaymentAmounts } from './processor'

/** A disagreement between the processor and the ledger about a payment. Amounts are nano-dollars. */
export interface PaymentDifference {
  paymentRef: string
  kind: 'payment' | 'refund' | 'dispute'
  /** The amount that the processor reports, and the amount in the ledger; 0 where there is none. */
  claimed: bigint
  booked: bigint
}

/** Names a finding: the ledger lacks it, has too much, or has another amount. */
export function nameOf({ claimed, booked }: PaymentDifference): 'missing' | 'extra' | 'altered' {
  if (booked === 0n) return 'missing'
  return claimed === 0n ? 'extra' : 'altered'
}

/** Returns whether the amounts taken back are equal: the ledger never takes more than was paid. */
function movesSameAmount(claimed: PaymentAmounts, booked: PaymentAmounts): boolean {
  const all = claimed.refunded + claimed.disputed
  if (all <= claimed.paid) {
    return claimed.refunded === booked.refunded && claimed.disputed === booked.disputed
  }
  return booked.refunded + booked.disputed === claimed.paid
}

/** Returns where the processor's statement of a payment differs from the ledger (I9, item by item). */
export function findDifferences(
  paymentRef: string,
  claimed: PaymentAmounts,
  booked: PaymentAmounts,
): PaymentDifference[] {
  const findings: PaymentDifference[] = []
  const compare = (
    kind: PaymentDifference['kind'],
    amounts: Pick<PaymentDifference, 'claimed' | 'booked'>,
  ) => {
    if (amounts.claimed !== amounts.booked) findings.push({ paymentRef, kind, ...amounts })
  }
  compare('payment', { claimed: claimed.paid, booked: booked.paid })
  // Without its payment, no reversal can be booked.
  const isOnOneSide = claimed.paid === 0n || booked.paid === 0n
  if (isOnOneSide || movesSameAmount(claimed, booked)) return findings
  compare('refund', { claimed: claimed.refunded, booked: booked.refunded })
  compare('dispute', { claimed: claimed.disputed, booked: booked.disputed })
  return findings
}
