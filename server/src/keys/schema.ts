import { z } from 'zod'
import { permissions } from '../auth/principal'
import { objectId } from '../http/answers'
import { line, timestamp } from '../http/fields'
import { usd } from '../wire/usd'
import { limit } from '../platform/integer'
import { Network } from '../platform/networks'
import { customIssue } from '../wire/field-error'

const distinct = <Name>(names: readonly Name[]) => [...new Set(names)]
const permissionList = z.array(z.enum(permissions)).min(1).max(10).transform(distinct)
const inTheFuture = timestamp.refine((date) => date.getTime() > Date.now(), {
  params: { issue: 'out_of_range' },
  message: 'must be in the future.',
})

const maxAllowedModels = 100
const modelPattern = /^[a-z0-9][a-z0-9._-]{0,39}\/.+$/s
const allowedModel = line(256).regex(modelPattern, {
  error: 'must be the ID of a model, or a provider followed by /*.',
})
const allowedModels = z
  .array(allowedModel)
  .min(1)
  .max(maxAllowedModels)
  .transform(distinct)
  .describe('IDs of models, or `<provider>/*`: all others are rejected. Null allows all')

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
  allowed_addresses: allowedAddresses.nullish(),
  allowed_models: allowedModels.nullish(),
  rate_limit_requests_per_minute: limit.nullish(),
  rate_limit_tokens_per_minute: limit.nullish(),
  max_concurrent_requests: limit.nullish(),
  monthly_spend_limit: usd(2).nullish(),
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
    ...limits,
  })
  .superRefine((key, ctx) => {
    if (key.disabled_until && key.disabled !== true) {
      ctx.addIssue(customIssue('conflict', 'requires disabled to be true.', ['disabled_until']))
    }
  })
  .meta({ ref: 'ChangedKey' })
export type ChangedKey = z.output<typeof ChangedKey>

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
    last_used_at: z.iso.datetime().nullable(),
    rate_limit_requests_per_minute: z.int().nullable(),
    rate_limit_tokens_per_minute: z.int().nullable(),
    max_concurrent_requests: z.int().nullable(),
    monthly_spend_limit: z.number().nullable().describe('USD'),
    allowed_models: z.array(z.string()).nullable().describe('Null for all'),
    allowed_addresses: z.array(z.string()).nullable().describe('Null for all'),
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
