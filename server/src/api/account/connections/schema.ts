import { z } from 'zod'
import { PricingAnswer, PricingFields } from '../../../catalog/pricing-fields'
import { Pagination } from '../../../http/documentation'
import { line } from '../../../http/fields'
import { ConnectionOptions } from '../../../providers/connection-options'
import { broken } from '../../../wire/field-error'

const perMinute = z.int().min(1).max(2_147_483_647).nullish()
const rateLimits = z.object({ rpm: perMinute, tpm: perMinute }).optional()
const priority = z.int().min(1).max(1000).optional()
const secret = z.string().trim().min(1).max(8192)

// Only the operator's own settings may name private addresses, so http is allowed here.
const platformEndpoint = z
  .url({ protocol: /^https?$/ })
  .max(500)
  .refine((url) => !URL.parse(url)?.username, {
    params: { issue: 'not_allowed' },
    message: 'must hold no user name.',
  })
  .transform((url) => url.replace(/\/+$/, ''))

const platformFields = {
  name: line(100),
  endpoint_url: platformEndpoint.nullish(),
  is_default: z.boolean().optional(),
  priority,
  /** Regions, versions and deployments; replaced as a whole. */
  options: ConnectionOptions.optional(),
  rate_limits: rateLimits,
}

/** A new platform connection. Source: contract 7.1, 9.2. */
export const NewPlatformConnection = z.object({
  ...platformFields,
  provider: z.string().min(1).max(40),
  api_key: secret.optional(),
})
export type NewPlatformConnection = z.output<typeof NewPlatformConnection>

export const ChangedPlatformConnection = z
  .object({ ...platformFields, api_key: secret, status: z.enum(['active', 'inactive']) })
  .partial()
export type ChangedPlatformConnection = z.output<typeof ChangedPlatformConnection>

export const NewSecret = z.object({ api_key: secret })

// The store checks the address against the current rules.
const endpoint = z
  .string()
  .trim()
  .max(500)
  .refine((url) => URL.canParse(url), {
    params: { issue: 'bad_format' },
    message: 'must be an address such as https://api.example.com/v1.',
  })

export const scopes = ['individual', 'organization'] as const
export const billingModes = ['org_pays', 'member_pays'] as const

interface ByGateway {
  gateway_type: 2 | 3
  gateway_id?: string | undefined
  api_key?: string | undefined
  endpoint_url?: string | undefined
}

/** Rejects secrets and addresses for a gateway's connection: the gateway has its own and never shares them. */
function gatewayIssues(fields: ByGateway) {
  if (fields.gateway_type === 2) {
    if (fields.gateway_id === undefined) return []
    return [broken('not_allowed', 'only for gateway_type 3.', ['gateway_id'])]
  }
  const missing = broken('required', 'needed for gateway_type 3.', ['gateway_id'])
  const refused = (['api_key', 'endpoint_url'] as const).filter(
    (name) => fields[name] !== undefined,
  )
  return [
    ...refused.map((name) => broken('not_allowed', 'the gateway has its own.', [name])),
    ...(fields.gateway_id === undefined ? [missing] : []),
  ]
}

/** A new connection of a customer, in the order of the table. Source: contract 7.1. */
export const NewConnection = z
  .object({
    name: line(100),
    provider: z.string().min(1).max(40),
    api_key: secret.optional(),
    endpoint_url: endpoint.optional(),
    gateway_type: z.literal([2, 3]).default(2),
    gateway_id: z.string().max(100).optional(),
    scope: z.enum(scopes).default('individual'),
    organization_id: z.string().max(100).optional(),
    billing_mode: z.enum(billingModes).optional(),
    is_default: z.boolean().optional(),
    priority,
    rate_limits: rateLimits,
  })
  .superRefine((fields, ctx) => {
    for (const issue of gatewayIssues(fields)) ctx.addIssue(issue)
    if (fields.scope === 'organization') {
      if (fields.organization_id !== undefined) return
      ctx.addIssue(broken('required', 'needed for scope "organization".', ['organization_id']))
      return
    }
    for (const name of ['organization_id', 'billing_mode'] as const) {
      if (fields[name] === undefined) continue
      ctx.addIssue(broken('not_allowed', 'only for scope "organization".', [name]))
    }
  })
export type NewConnection = z.output<typeof NewConnection>

export const ChangedConnection = z.object({
  name: line(100).optional(),
  api_key: secret.optional(),
  endpoint_url: endpoint.nullish(),
  billing_mode: z.enum(billingModes).optional(),
  is_default: z.boolean().optional(),
  priority,
  rate_limits: rateLimits,
  status: z.enum(['active', 'inactive']).optional(),
})
export type ChangedConnection = z.output<typeof ChangedConnection>

/** The operator's limits apply to flat prices per token. */
const OwnerPricing = PricingFields.superRefine((fields, ctx) => {
  for (const [name, unit] of operatorUnits) {
    if (fields[name] === undefined || fields[name] === null) continue
    ctx.addIssue(broken('not_allowed', `only the operator sets prices by ${unit}.`, [name]))
  }
})

const operatorUnits = [
  ['input_characters', 'the character'],
  ['output_characters', 'the character'],
  ['second', 'the second'],
  ['image', 'the piece'],
  ['request', 'the piece'],
  ['search', 'the piece'],
  ['tiers', 'tier'],
] as const

/** The price of a model that only this connection has; null to remove it. */
export const SetPrice = z.object({
  model: z.string().min(3).max(256),
  pricing: OwnerPricing.nullable(),
})
export type SetPrice = z.output<typeof SetPrice>

/** Filters of the list. */
export const Filters = z.object({
  provider: z.string().max(40).optional(),
  gateway_type: z.coerce
    .number()
    .pipe(z.literal([2, 3]))
    .optional(),
  status: z.enum(['active', 'inactive', 'error']).optional(),
  scope: z.enum(scopes).optional(),
  organization_id: z.string().max(100).optional(),
})
export type Filters = z.output<typeof Filters>

export const Connection = z
  .object({
    id: z.string(),
    name: z.string(),
    provider: z.string(),
    endpoint_url: z.string().nullable(),
    gateway_type: z.literal([2, 3]),
    gateway_id: z.string().nullable(),
    status: z.enum(['active', 'inactive', 'error']),
    scope: z.enum(scopes),
    organization_id: z.string().nullable(),
    billing_mode: z.enum(billingModes).nullable(),
    is_default: z.boolean(),
    priority: z.int(),
    rate_limits: z
      .object({ rpm: z.int().nullable(), tpm: z.int().nullable() })
      .nullable()
      .describe('Null unless the caller may change the connection.'),
    model_count: z.int(),
    api_key_prefix: z.string().nullable(),
    last_error: z.string().nullable(),
    last_tested_at: z.iso.datetime().nullable(),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .meta({ ref: 'Connection' })

/** A connection of the platform, as operators see it; only these have options and a source. */
export const PlatformConnection = Connection.extend({
  scope: z.literal('platform'),
  organization_id: z.null(),
  billing_mode: z.null(),
  options: z.record(z.string(), z.unknown()).describe('Regions, versions and deployments.'),
  source: z
    .enum(['stored', 'environment', 'discovered', 'built_in'])
    .describe('Only a stored one can be changed; the others have no times.'),
  created_at: z.iso.datetime().nullable(),
  updated_at: z.iso.datetime().nullable(),
}).meta({ ref: 'PlatformConnection' })
export type PlatformConnection = z.output<typeof PlatformConnection>

export const PlatformConnectionList = z
  .object({ connections: z.array(PlatformConnection), pagination: Pagination })
  .meta({ ref: 'PlatformConnectionList' })

export const ConnectionList = z
  .object({ connections: z.array(Connection), pagination: Pagination })
  .meta({ ref: 'ConnectionList' })

export const ConnectionModel = z
  .object({
    id: z.string().describe('What callers name it by.'),
    name: z.string(),
    in_catalogue: z.boolean().describe('Whether the operator says what it costs.'),
    pricing: PricingAnswer.nullable().describe(
      'What is charged to who pays by the price; null where that is nothing, or nobody knows. Set by the owner where the catalogue has no such model.',
    ),
    is_limited: z
      .boolean()
      .describe('The owner set a higher price than the operator allows by now.'),
  })
  .meta({ ref: 'ConnectionModel' })

export const ConnectionModelList = z
  .object({ models: z.array(ConnectionModel), pagination: Pagination })
  .meta({ ref: 'ConnectionModelList' })

export const ConnectionTest = z
  .object({
    success: z.boolean(),
    status: z.enum(['active', 'error']),
    message: z.string(),
    latency_ms: z.int(),
    models_found: z.int(),
    tested_at: z.iso.datetime(),
  })
  .meta({ ref: 'ConnectionTest' })
