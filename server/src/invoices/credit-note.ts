import { roundToCent } from './round-to-cent'

/** Money of a payment that the processor took back, as the ledger booked it. */
export interface ReversalMovement {
  /** The ledger's name of it, which no other movement has. */
  subject: string
  kind: 'refund' | 'dispute'
  /** Nano-dollars; below zero where a refund was not carried out, and its amount returned to the account. */
  amount: bigint
}

/** The amounts of a document, in nano-dollars. The tax is part of the total; null where none is shown. */
export interface DocumentAmounts {
  total: bigint
  taxAmount: bigint | null
}

/** Returns the tax in what was taken back of an invoice: all of it with the last cent, whatever the parts were. */
function taxIn({ total, taxAmount }: DocumentAmounts, takenBack: bigint): bigint | null {
  if (taxAmount === null) return null
  return total === 0n ? 0n : roundToCent(taxAmount * takenBack, total)
}

const sum = (amounts: readonly bigint[]) => amounts.reduce((total, amount) => total + amount, 0n)

/**
 * Returns the amounts of the credit note of a movement, below zero where money was taken back. `earlier` are the other
 * credit notes of the invoice. Invoice and credit notes add up to what is left of the payment, and so do their taxes.
 */
export function toCreditNoteAmounts(
  invoice: DocumentAmounts,
  earlier: readonly DocumentAmounts[],
  movement: Pick<ReversalMovement, 'amount'>,
): DocumentAmounts {
  const takenBack = movement.amount - sum(earlier.map(({ total }) => total))
  const tax = taxIn(invoice, takenBack)
  const earlierTax = sum(earlier.map(({ taxAmount }) => taxAmount ?? 0n))
  return { total: -movement.amount, taxAmount: tax === null ? null : -tax - earlierTax }
}

/** Returns the text of the line of a credit note. */
export function describeMovement({ kind, amount }: ReversalMovement): string {
  if (amount < 0n) return 'Credits, refund that was not carried out'
  return kind === 'refund' ? 'Credits, refunded' : 'Credits, payment disputed'
}
