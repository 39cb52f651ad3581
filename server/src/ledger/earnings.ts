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
  paid: bigint,
): bigint {
  const earned = cost - (cost * BigInt(feeMillionths)) / million
  return earned < paid ? earned : paid
}

/** Sums the paid part of each charge by payer and payee. */
export function sumEarnings(paid: Iterable<readonly [Charge, bigint]>): Earning[] {
  const sums = new Map<string, Earning>()
  for (const [charge, amount] of paid) {
    const { accountId: payerId, payeeId } = charge
    if (payeeId === null || payerId === null || amount <= 0n) continue
    const earned = computeEarning(charge, amount)
    if (earned === 0n) continue
    const key = `${payerId} ${payeeId}`
    const sum = sums.get(key)
    if (sum) sum.amount += earned
    else sums.set(key, { payerId, payeeId, amount: earned })
  }
  return [...sums.values()]
}
