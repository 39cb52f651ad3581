import { z } from 'zod'

/** USD with at most so many decimals, and at least `least`, as nano-dollars. */
export const usd = (decimals: number, least = 0) =>
  z
    .number()
    .min(least)
    .max(1e9)
    .refine((amount) => Number(amount.toFixed(decimals)) === amount, {
      params: { issue: 'out_of_range' },
      message: `must have at most ${decimals} decimals.`,
    })
    .transform((amount) => BigInt(Math.round(amount * 1e9)))

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
