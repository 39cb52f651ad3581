import { z } from 'zod'

/** The highest amount that is accepted and stored, in USD; as nano-dollars it fits in a `bigint` column. */
const maxUsd = 1e9
const maxNanos = BigInt(maxUsd) * 1_000_000_000n

/** The highest price, in USD: a dollar a token. Beyond it no request of any size has a cost that fits. */
export const maxPriceUsd = 1_000_000

/** USD with at most so many decimals, from `least` to `most`, as nano-dollars. */
export const usd = (decimals: number, min = 0, max = maxUsd) =>
  z
    .number()
    .min(min)
    .max(max)
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
export const toUsdOrNull = (nanos: bigint | null) => (nanos === null ? null : toUsd(nanos))

/** Nano-dollars as USD in plain decimal digits, for a header. */
export const formatPlainUsd = (nanos: bigint): string => formatDecimal(nanos, 9)

/** Nano-dollars as USD in plain decimal digits, with a sign below zero. */
export const formatSignedUsd = (nanos: bigint): string =>
  nanos < 0n ? `-${formatPlainUsd(-nanos)}` : formatPlainUsd(nanos)

/** Formats an amount in units of 10 ** -`decimals`, without zeros at its end. */
export function formatDecimal(units: bigint, decimals: number): string {
  if (units === 0n) return '0'
  const digits = String(units).padStart(decimals + 1, '0')
  let end = digits.length
  const point = end - decimals
  while (end > point && digits[end - 1] === '0') end--
  const whole = digits.slice(0, point)
  return end === point ? whole : `${whole}.${digits.slice(point, end)}`
}

/**
 * USD as nano-dollars, from the decimal digits a number was written with: 0.15 is 150000000n, where
 * multiplying would round in binary. Digits behind the ninth are rounded, half up.
 */
export function parseUsd(usd: number): bigint {
  const [whole = '0', fraction = ''] = plainDecimal(usd).split('.')
  const digits = fraction.padEnd(10, '0')
  const nanos = BigInt(whole + digits.slice(0, 9))
  return digits.charAt(9) >= '5' ? nanos + 1n : nanos
}

/** The shortest digits that make this number, without an exponent. */
function plainDecimal(value: number): string {
  const [mantissa = '0', exponent] = String(value).split('e')
  if (exponent === undefined) return mantissa
  const [whole = '0', fraction = ''] = mantissa.split('.')
  const shift = Number(exponent)
  if (shift < 0) return `0.${'0'.repeat(-shift - 1)}${whole}${fraction}`
  return (whole + fraction).padEnd(shift + whole.length, '0')
}
