import { z } from 'zod'
import { limit } from '../integer'
import { isOneLine } from '../../wire/one-line'
import { maxPriceUsd, storedUsd, toUsd, usd } from '../../wire/usd'

/**
 * A kind of values in its three forms: what an operator sends, what the row of settings has, and what answers show.
 * The stored form is at least as wide as the accepted one, so that every accepted value can be read.
 */
export interface SettingKind<Value> {
  body: z.ZodType<Value>
  stored: z.ZodType<Value>
  answer: z.ZodType
  toAnswer(value: Value): unknown
  /** Of an answer's number: `USD`, `percent` or `seconds`, for documentation and for the dashboard. */
  unit?: string
}

/** Makes a kind whose values are the same in every form. */
const plain = <Value>(kind: {
  body: z.ZodType<Value>
  stored: z.ZodType<Value>
  answer?: z.ZodType
  unit?: string
}): SettingKind<Value> => ({ answer: kind.stored, toAnswer: (value) => value, ...kind })

const oneLineIssue = {
  params: { issue: 'bad_format' },
  message: 'must be one line, without control characters.',
}

const maxDecimals = (max: number) =>
  [
    (value: number) => Number(value.toFixed(max)) === value,
    { params: { issue: 'out_of_range' }, message: `must have at most ${max} decimals.` },
  ] as const

/** USD, kept as nano-dollars. */
const amount = (max?: number): SettingKind<bigint> => ({
  body: usd(9, 0, max),
  stored: storedUsd,
  answer: z.number(),
  toAnswer: toUsd,
  unit: 'USD',
})
export const balance = amount()
/** For a million tokens. */
export const price = amount(maxPriceUsd)

export const percent = plain({
  body: z
    .number()
    .min(0)
    .max(100)
    .refine(...maxDecimals(2)),
  stored: z.number().min(0).max(100),
  answer: z.number(),
  unit: 'percent',
})

export const taxRate = plain({
  body: z
    .number()
    .min(0)
    .max(100)
    .refine(...maxDecimals(3)),
  stored: z.number().min(0).max(100),
  answer: z.number(),
  unit: 'percent',
})

/** Seconds up to a day, to the millisecond; kept as milliseconds. */
export const seconds: SettingKind<number> = {
  body: z
    .number()
    .min(0.001)
    .max(86_400)
    .refine(...maxDecimals(3))
    .transform((value) => Math.round(value * 1000)),
  stored: z.int().min(1).max(86_400_000),
  answer: z.number(),
  toAnswer: (value) => value / 1000,
  unit: 'seconds',
}

export const count = plain({ body: limit, stored: z.int().min(1), answer: z.int() })

const fullDays = z.int().min(2).max(3650)
export const days = plain({ body: fullDays, stored: fullDays, answer: z.int() })

/** The bounds are those of the column of organizations, in migration 0082. */
export const auditMonths = z.int().min(3).max(120)
export const months = plain({ body: auditMonths, stored: auditMonths, answer: z.int() })

const megabytes = z.int().min(128).max(1_048_576)
export const storedMegabytes = plain({ body: megabytes, stored: megabytes, answer: z.int() })

export const flag = plain({ body: z.boolean(), stored: z.boolean() })

export const oneOf = <const Names extends readonly string[]>(names: Names) => {
  const name = z.enum(names)
  return plain({ body: name, stored: name })
}

export const publicKey = plain<string | null>({
  body: z
    .string()
    .regex(/^[A-Za-z0-9+/]{43}=$/, 'must be an Ed25519 public key: 32 bytes in base64.')
    .nullable(),
  stored: z.string().nullable(),
})

/** One line of text; null where it is empty. */
export const optionalText = (max: number) =>
  plain<string | null>({
    body: z.string().trim().min(1).max(max).refine(isOneLine, oneLineIssue).nullable(),
    stored: z.string().nullable(),
  })

/** A text that matches a pattern. */
export const textLike = (pattern: RegExp, message: string) =>
  plain({ body: z.string().regex(pattern, message), stored: z.string() })

export const optionalTextLike = (pattern: RegExp, message: string) =>
  plain<string | null>({
    body: z.string().regex(pattern, message).nullable(),
    stored: z.string().nullable(),
  })

/** A day, such as `2026-11-01`. */
export const optionalDate = plain<string | null>({
  body: z.iso.date().nullable(),
  stored: z.iso.date().nullable(),
})

/** Whether models without a price are refused or free; or their price, which zero is not. */
type UnpricedModels = 'refuse' | 'free' | { input: bigint; output: bigint }

const unpricedNames = z.enum(['refuse', 'free'])
const ceiling = (title: string) =>
  usd(9, 0.000_001, maxPriceUsd).meta({
    title,
    description: 'For 1,000,000 tokens; in USD',
    'x-unit': 'USD',
  })
const priceOfAll = z.object({ input: ceiling('Input price'), output: ceiling('Output price') })

export const unpriced: SettingKind<UnpricedModels> = {
  body: z.union([unpricedNames, priceOfAll], {
    error: 'must be "refuse", "free", or a price such as {"input": 10, "output": 50}.',
  }),
  stored: z.union([unpricedNames, z.object({ input: storedUsd, output: storedUsd })]),
  answer: z.union([unpricedNames, z.object({ input: z.number(), output: z.number() })]),
  toAnswer: (value) =>
    typeof value === 'string' ? value : { input: toUsd(value.input), output: toUsd(value.output) },
}

const maxEntries = 100
const maxAddressLines = 8

/** A list without duplicates. */
const list = (entry: z.ZodType<string>, max = maxEntries) =>
  plain<readonly string[]>({
    body: z
      .array(entry)
      .max(max)
      .transform((entries) => [...new Set(entries)]),
    stored: z.array(z.string()),
  })

/** Origins as browsers send them: no path, no final slash. */
export const origins = list(
  z
    .string()
    .max(300)
    .refine((text) => /^https?:/.test(text) && URL.parse(text)?.origin === text, {
      params: { issue: 'bad_format' },
      message: 'must be an origin such as https://app.example.com, without a path.',
    }),
)

export const networks = list(
  z.union([z.cidrv4(), z.cidrv6()], { error: 'must be a network such as 10.0.0.0/8.' }),
)

/** The lines of an address, in their order. */
export const addressLines = list(
  z.string().trim().min(1).max(100).refine(isOneLine, oneLineIssue),
  maxAddressLines,
)
