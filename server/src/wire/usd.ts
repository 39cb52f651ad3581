import { z } from 'zod'

/** The highest amount that is accepted and stored, in USD; as nano-dollars it fits in a `bigint` column. */
const maxUsd = 1e9
const maxNanos = BigInt(maxUsd) * 1_000_000_000n

/** USD with at most so many decimals, from `least` to `most`, as nano-dollars. */
export const usd = (decimals: number, least = 0, most = maxUsd) =>
  z
    .number()
    .min(least)
    .max(most)
    .refine((amount) => Number(amount.toFixed(decimals)) === amount, {
      params: { issue: 'out_of_range' },
      message: `must have at most ${decimals} decimals.`,
    })
    .transform((amount) => BigInt(Math.round(amount * 1e9)))

/**
 * Nano-dollars in stored JSON: text, since JSON numbers are not exact. Reads every amount that `usd` accepts,
 * so that no accepted value is refused when it is read.
 */
export const storedUsd = z
  .string()
  .regex(/^\d{1,19}$/)
  .transform(BigInt)
  .refine((nanos) => nanos <= maxNanos)

/** Nano-dollars as USD, the number that JSON shows. */
export const toUsd = (nanos: bigint) => Number(nanos) / 1e9

/** Nano-dollars as USD in plain decimal digits, for a header. */
export function plainUsd(nanos: bigint): string {
  if (nanos === 0n) return '0'
  const digits = String(nanos).padStart(10, '0')
  let end = digits.length
  const point = end - 9
  while (end > point && digits[end - 1] === '0') end--
  const whole = digits.slice(0, point)
  return end === point ? whole : `${whole}.${digits.slice(point, end)}`
}
