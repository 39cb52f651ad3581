import type { Moved } from './processor'

/** Where the processor and the ledger disagree about a payment. Amounts are nano-dollars. */
export interface PaymentDifference {
  paymentRef: string
  kind: 'payment' | 'refund' | 'dispute'
  /** What the processor says it moved, and what the ledger has; 0 where there is none. */
  claimed: bigint
  booked: bigint
}

/** How a finding is called: what the ledger lacks, has too much, or has with another amount. */
export function nameOf({ claimed, booked }: PaymentDifference): 'missing' | 'extra' | 'altered' {
  if (booked === 0n) return 'missing'
  return claimed === 0n ? 'extra' : 'altered'
}

/** Whether what was taken back is the same: the ledger never takes more than was paid. */
function isTakenAlike(claimed: Moved, booked: Moved): boolean {
  const all = claimed.refunded + claimed.disputed
  if (all <= claimed.paid) {
    return claimed.refunded === booked.refunded && claimed.disputed === booked.disputed
  }
  return booked.refunded + booked.disputed === claimed.paid
}

/** Where what the processor says of a payment is not what the ledger has (I9, item by item). */
export function findDifferences(
  paymentRef: string,
  claimed: Moved,
  booked: Moved,
): PaymentDifference[] {
  const findings: PaymentDifference[] = []
  const compare = (
    kind: PaymentDifference['kind'],
    amounts: Pick<PaymentDifference, 'claimed' | 'booked'>,
  ) => {
    if (amounts.claimed !== amounts.booked) findings.push({ paymentRef, kind, ...amounts })
  }
  compare('payment', { claimed: claimed.paid, booked: booked.paid })
  // Without its payment nothing can be taken back.
  const isOnOneSide = claimed.paid === 0n || booked.paid === 0n
  if (isOnOneSide || isTakenAlike(claimed, booked)) return findings
  compare('refund', { claimed: claimed.refunded, booked: booked.refunded })
  compare('dispute', { claimed: claimed.disputed, booked: booked.disputed })
  return findings
}
