import { z } from 'zod'
import { permissions } from '../auth/principal'
import { objectId } from '../http/answers'
import { line, timestamp } from '../http/fields'
import { usd } from '../wire/usd'
import { modelEndpoints, type AccessListName } from '../platform/access-lists'
import { limit } from '../platform/integer'
import { Network } from '../platform/networks'
import { customIssue } from '../wire/field-error'
import { TagList } from '../wire/tags'

const distinct = <Name>(names: readonly Name[]) => [...new Set(names)]
const permissionList = z.array(z.enum(permissions)).min(1).max(10).transform(distinct)
const inTheFuture = timestamp.refine((date) => date.getTime() > Date.now(), {
  params: { issue: 'out_of_range' },
  message: 'must be in the future.',
})

const maxListed = 100
const listOf = <Name extends z.ZodType>(name: Name) =>
  z.array(name).min(1).max(maxListed).transform(distinct)

// A star elsewhere would match nothing.
/** The id of a model, or `<provider>/*`. */
export const model = line(256).regex(/^[a-z0-9][a-z0-9._-]{0,39}\/(?:\*|[^*]+)$/, {
  error: 'must be the ID of a model, or a provider followed by /*.',
})
/** The key of a provider. */
export const provider = line(40).regex(/^[a-z0-9][a-z0-9._-]*$/, {
  error: 'must be the key of a provider.',
})
const collection = line(256).regex(/^collection\/(?:\*|[^*]+)$/, {
  error: 'must be the name of a collection, such as collection/fast, or collection/*.',
})
const endpoint = z.enum(modelEndpoints)

/** The lists of what a key may call: each must permit a request. Null is no list. */
const accessLists = {
  allowed_models: listOf(model)
    .describe('IDs of models, or `<provider>/*`: all others are rejected. Null allows all')
    .nullish(),
  denied_models: listOf(model)
    .describe('IDs of models, or `<provider>/*`, that are rejected. Null denies none')
    .nullish(),
  allowed_providers: listOf(provider)
    .describe('Providers, such as `openai`: models of all others are rejected. Null allows all')
    .nullish(),
  denied_providers: listOf(provider)
    .describe('Providers whose models are rejected. Null denies none')
    .nullish(),
  allowed_collections: listOf(collection)
    .describe('`collection/<name>`, or `collection/*`: all others are rejected. Null allows all')
    .nullish(),
  denied_collections: listOf(collection)
    .describe('`collection/<name>`, or `collection/*`, that are rejected. Null denies none')
    .nullish(),
  allowed_endpoints: listOf(endpoint)
    .describe('Model endpoints: all others are rejected. Null allows all')
    .nullish(),
  denied_endpoints: listOf(endpoint)
    .describe('Model endpoints that are rejected. Null denies none')
    .nullish(),
} satisfies Record<AccessListName, z.ZodType>

const maxAllowedAddresses = 50
const allowedAddresses = z
  .array(line(50).pipe(Network))
  .min(1)
  .max(maxAllowedAddresses)
  .transform(distinct)
  .describe(
    'Addresses, or networks such as `203.0.113.0/24`, that requests with the key may come from. Null allows all',
  )

const limits = {
  ...accessLists,
  allowed_addresses: allowedAddresses.nullish(),
  rate_limit_requests_per_minute: limit.nullish(),
  rate_limit_tokens_per_minute: limit.nullish(),
  rate_limit_images_per_minute: limit.nullish(),
  rate_limit_audio_seconds_per_minute: limit.nullish(),
  max_concurrent_requests: limit.nullish(),
  monthly_spend_limit: usd(2).nullish(),
  tags: TagList.describe(
    'Tags of all requests with the key, beside their own: dimensions of request logs and usage. Null, or an empty list, for none',
  ).nullish(),
}

/** A new key. Source: contract 6.4. */
export const NewKey = z
  .object({
    name: line(100),
    permissions: permissionList.default(['read', 'write']),
    expires_at: inTheFuture.optional(),
    expires_in_days: z.int().min(1).max(3650).optional(),
    ...limits,
  })
  .superRefine((key, ctx) => {
    if (key.expires_at && key.expires_in_days !== undefined) {
      ctx.addIssue(customIssue('conflict', 'excludes expires_at.', ['expires_in_days']))
    }
  })
  .meta({ ref: 'NewKey' })
export type NewKey = z.output<typeof NewKey>

/** A secret that a rotation has replaced. */
export const PreviousSecret = z
  .object({
    key_prefix: z.string().meta({ examples: ['sk-tg-6rHINF'] }),
    expires_at: z.iso.datetime(),
  })
  .meta({ ref: 'PreviousSecret' })

export const ChangedKey = z
  .object({
    name: line(100).optional(),
    permissions: permissionList.optional(),
    expires_at: inTheFuture.nullish(),
    disabled: z
      .boolean()
      .optional()
      .describe('True rejects all requests with the key, false accepts them again'),
    disabled_until: inTheFuture
      .nullish()
      .describe('With `disabled` true: when the key works again; null for not until it is enabled'),
    previous_secrets: z
      .array(PreviousSecret)
      .max(0)
      .nullish()
      .describe(
        'Null, or an empty list, ends the overlap of a rotation: earlier secrets are invalid',
      ),
    ...limits,
  })
  .superRefine((key, ctx) => {
    if (key.disabled_until && key.disabled !== true) {
      ctx.addIssue(customIssue('conflict', 'requires disabled to be true.', ['disabled_until']))
    }
  })
  .meta({ ref: 'ChangedKey' })
export type ChangedKey = z.output<typeof ChangedKey>

/** The fields of a rotation. Source: contract 6.4. */
export const Rotation = z
  .object({
    overlap_seconds: z
      .int()
      .min(0)
      .max(30 * 86_400)
      .default(86_400)
      .describe(
        'Seconds for which the old secret stays valid; 0 ends it, and all earlier ones, at once',
      ),
  })
  .meta({ ref: 'Rotation' })
export type Rotation = z.output<typeof Rotation>

/** A key as the API shows it, without its secret. */
export const Key = z
  .object({
    id: objectId('key'),
    name: z.string().meta({ examples: ['Search'] }),
    key_prefix: z
      .string()
      .meta({ examples: ['sk-tg-6rHINF'] })
      .describe('The first 12 characters of the secret'),
    permissions: z.array(z.enum(permissions)),
    expires_at: z.iso.datetime().nullable(),
    previous_secrets: z
      .array(PreviousSecret)
      .describe('Secrets that a rotation has replaced, and that are still valid'),
    last_used_at: z.iso.datetime().nullable(),
    last_used_address: z
      .string()
      .nullable()
      .describe('The client address of a request at most ten seconds before `last_used_at`'),
    rate_limit_requests_per_minute: z.int().nullable(),
    rate_limit_tokens_per_minute: z.int().nullable(),
    rate_limit_images_per_minute: z.int().nullable(),
    rate_limit_audio_seconds_per_minute: z.int().nullable(),
    max_concurrent_requests: z.int().nullable(),
    monthly_spend_limit: z.number().nullable().describe('USD'),
    allowed_models: z.array(z.string()).nullable().describe('Null for all'),
    denied_models: z.array(z.string()).nullable().describe('Null for none'),
    allowed_providers: z.array(z.string()).nullable().describe('Null for all'),
    denied_providers: z.array(z.string()).nullable().describe('Null for none'),
    allowed_collections: z.array(z.string()).nullable().describe('Null for all'),
    denied_collections: z.array(z.string()).nullable().describe('Null for none'),
    allowed_endpoints: z.array(z.string()).nullable().describe('Null for all'),
    denied_endpoints: z.array(z.string()).nullable().describe('Null for none'),
    allowed_addresses: z.array(z.string()).nullable().describe('Null for all'),
    tags: z
      .array(z.string())
      .describe('Tags of all requests with the key, in their order')
      .meta({ examples: [['production', 'team:search']] }),
    disabled: z.boolean().describe('Whether requests with the key are rejected now'),
    disabled_until: z.iso
      .datetime()
      .nullable()
      .describe(
        'Time at which a disabled key works again; null if it stays disabled until it is enabled',
      ),
    created_at: z.iso.datetime(),
  })
  .meta({ ref: 'Key' })

const usd9 = z.number().describe('USD')

/** A key of a list, with its spending: what its requests cost, whichever account paid. */
const ListedKey = Key.extend({
  usage: z
    .object({
      spend_today: usd9,
      spend_this_month: usd9,
      requests_today: z.int(),
      requests_this_month: z.int(),
    })
    .describe('Of the current day and calendar month, in UTC, as `monthly_spend_limit` counts'),
}).meta({ ref: 'ListedKey' })

export const KeyList = z.object({ keys: z.array(ListedKey) }).meta({ ref: 'KeyList' })
