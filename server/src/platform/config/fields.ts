import { z } from 'zod'

/** An optional value, which the configuration always has as a field: undefined where the variable is unset. */
export const optional = <Schema extends z.ZodType>(schema: Schema) =>
  schema.optional().transform((value) => value)

/** A whole number between bounds. */
export const integer = (min: number, max: number) => z.coerce.number().int().min(min).max(max)

const toMs = (value: number) => Math.round(value * 1000)

const secondsOf = (number: z.ZodCoercedNumber, fallback: number) =>
  number.max(86_400, 'must be at most a day: 86400').default(fallback).transform(toMs)

/** A number of seconds above zero, as milliseconds. */
export const seconds = (fallback: number) => secondsOf(z.coerce.number().positive(), fallback)
/** A number of seconds from zero, which turns the feature off, as milliseconds. */
export const secondsOrNone = (fallback: number) => secondsOf(z.coerce.number().min(0), fallback)
/** A number of seconds above zero with a bound of its own, as milliseconds. */
export const secondsUpTo = (max: number, fallback: number) =>
  z.coerce.number().positive().max(max).default(fallback).transform(toMs)

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

/** A URL with one of these protocols. */
export const url = (protocol: RegExp) => z.url({ protocol })
