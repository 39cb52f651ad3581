import { z } from 'zod'
import { maxPriceUsd } from '../../../catalog/pricing-fields'
import { limit } from '../../../http/limits'
import { signUps, unansweredCharges } from '../../../platform/settings/settings'
import { broken } from '../../../wire/field-error'
import { usd } from '../../../wire/usd'

const mostEntries = 100

const decimals = (most: number) => (value: number) => Number(value.toFixed(most)) === value
const tooFine = (most: number) => ({
  params: { issue: 'out_of_range' },
  message: `must have at most ${most} decimals.`,
})

const percent = z.number().min(0).max(100).refine(decimals(2), tooFine(2))

/** Seconds up to a day, to the millisecond. */
const seconds = z.number().min(0.001).max(86_400).refine(decimals(3), tooFine(3))

/** An origin as browsers send it: no path, no final slash. */
const origin = z
  .string()
  .max(300)
  .refine((text) => /^https?:/.test(text) && URL.parse(text)?.origin === text, {
    params: { issue: 'bad_format' },
    message: 'must be an origin such as https://app.example.com, without a path.',
  })

const network = z.union([z.cidrv4(), z.cidrv6()], {
  error: 'must be a network such as 10.0.0.0/8.',
})

const list = (entry: z.ZodType<string>) =>
  z
    .array(entry)
    .max(mostEntries)
    .transform((entries) => [...new Set(entries)])

/** A group of fields, of which at least one is required. */
const group = <Shape extends Record<string, z.ZodType>>(shape: Shape) =>
  z.object(shape).superRefine((fields, ctx) => {
    if (Object.values(fields).some((value) => value !== undefined)) return
    ctx.addIssue(broken('empty', 'send at least one of its fields.'))
  })

const priceLimit = usd(9, 0, maxPriceUsd)
/** Zero is no price: models without charge are `free`. */
const ceiling = usd(9, 0.000_001, maxPriceUsd)

/** The fields that a PUT may change. Source: contract 9.2. */
export const ChangedConfig = z.object({
  minimum_balance: usd(9).optional(),
  warning_threshold: usd(9).optional(),
  platform_fee_percent: percent.optional(),
  platform_connections: z.boolean().optional(),
  owner_price_limits: group({
    input: priceLimit.optional(),
    output: priceLimit.optional(),
  }).optional(),
  unpriced_models: z
    .union([z.enum(['refuse', 'free']), z.object({ input: ceiling, output: ceiling })], {
      error: 'must be "refuse", "free", or a price such as {"input": 10, "output": 50}.',
    })
    .optional(),
  catalog_public_key: z
    .string()
    .regex(/^[A-Za-z0-9+/]{43}=$/, 'must be an Ed25519 public key: 32 bytes in base64.')
    .nullable()
    .optional(),
  sign_up: z.enum(signUps).optional(),
  log_bodies: z.boolean().optional(),
  unanswered_requests: z.enum(unansweredCharges).optional(),
  rates: group({
    api_requests_per_minute: limit.optional(),
    public_requests_per_minute: limit.optional(),
    failed_authentications_per_minute: limit.optional(),
    alert_tests_per_hour: limit.optional(),
    invitation_mails_per_day: limit.optional(),
  }).optional(),
  timers: group({
    request_seconds: seconds.optional(),
    first_byte_seconds: seconds.optional(),
    idle_seconds: seconds.optional(),
    stream_seconds: seconds.optional(),
    connect_seconds: seconds.optional(),
  }).optional(),
  retention_days: z.int().min(2).max(3650).optional(),
  allowed_return_origins: list(origin).optional(),
  allowed_private_networks: list(network).optional(),
})
export type ChangedConfig = z.output<typeof ChangedConfig>

/** The whole configuration, as the API shows it. */
export const Config = z
  .object({
    minimum_balance: z.number(),
    warning_threshold: z.number(),
    platform_fee_percent: z.number(),
    platform_connections: z.boolean(),
    owner_price_limits: z.object({ input: z.number(), output: z.number() }),
    unpriced_models: z
      .union([z.enum(['refuse', 'free']), z.object({ input: z.number(), output: z.number() })])
      .describe(
        'What happens to models without a price on connections of the platform; a price is in USD per 1,000,000 tokens',
      ),
    catalog_public_key: z.string().nullable(),
    sign_up: z.enum(signUps),
    log_bodies: z.boolean(),
    rates: z.object({
      api_requests_per_minute: z.int(),
      public_requests_per_minute: z.int(),
      failed_authentications_per_minute: z.int(),
      alert_tests_per_hour: z.int(),
      invitation_mails_per_day: z.int(),
    }),
    timers: z.object({
      request_seconds: z.number(),
      first_byte_seconds: z.number(),
      idle_seconds: z.number(),
      stream_seconds: z.number(),
      connect_seconds: z.number(),
    }),
    retention_days: z.int(),
    allowed_return_origins: z.array(z.string()),
    allowed_private_networks: z.array(z.string()),
  })
  .meta({ ref: 'Config' })
