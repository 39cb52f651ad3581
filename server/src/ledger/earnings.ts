import type { Charge } from './charge'

/** The earnings of one account from another. Nano-dollars. */
export interface Earning {
  payerId: string
  payeeId: string
  amount: bigint
}

const million = 1_000_000n

/**
 * Returns an account's earning from a cost: all but the platform's fee, and never more than was paid, as the
 * house bears what a payer could not.
 */
export function computeEarning(
  { cost, feeMillionths }: Pick<Charge, 'cost' | 'feeMillionths'>,
  paidAmount: bigint,
): bigint {
  const earnedAmount = cost - (cost * BigInt(feeMillionths)) / million
  return earnedAmount < paidAmount ? earnedAmount : paidAmount
}

/** Sums the paid part of each charge by payer and payee. */
export function sumEarnings(payments: Iterable<readonly [Charge, bigint]>): Earning[] {
  const sums = new Map<string, Earning>()
  for (const [charge, amount] of payments) {
    const { accountId: payerId, payeeId } = charge
    if (payeeId === null || payerId === null || amount <= 0n) continue
    const earnedAmount = computeEarning(charge, amount)
    if (earnedAmount === 0n) continue
    const key = `${payerId} ${payeeId}`
    const sum = sums.get(key)
    if (sum) sum.amount += earnedAmount
    else sums.set(key, { payerId, payeeId, amount: earnedAmount })
  }
  return [...sums.values()]
}
