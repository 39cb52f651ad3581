const nanosPerCent = 10_000_000n

/** Returns a fraction of nano-dollars in whole cents, half a cent upward. Neither part is below zero. */
export function roundToCent(numerator: bigint, denominator: bigint): bigint {
  const cent = denominator * nanosPerCent
  return ((2n * numerator + cent) / (2n * cent)) * nanosPerCent
}
