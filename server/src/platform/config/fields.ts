import { z } from 'zod'

const secondsOf = (number: z.ZodCoercedNumber, fallback: number) =>
  number
    .max(86_400, 'must be at most a day: 86400')
    .default(fallback)
    .transform((value) => Math.round(value * 1000))

/** A number of seconds above zero, as milliseconds. */
export const seconds = (fallback: number) => secondsOf(z.coerce.number().positive(), fallback)
/** A number of seconds from zero, which turns the feature off, as milliseconds. */
export const secondsOrNone = (fallback: number) => secondsOf(z.coerce.number().min(0), fallback)

/** An amount in USD, as nano-dollars. */
export const dollars = (fallback: number) =>
  z.coerce
    .number()
    .min(0)
    .max(1_000_000)
    .default(fallback)
    .transform((value) => BigInt(Math.round(value * 1e9)))

/** `true` or `false`. */
export const flag = (fallback: boolean) =>
  z
    .enum(['true', 'false'])
    .default(fallback ? 'true' : 'false')
    .transform((value) => value === 'true')
