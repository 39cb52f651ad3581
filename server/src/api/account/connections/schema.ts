import { z } from 'zod'
import { PricingAnswer, PricingFields } from '../../../catalog/pricing-fields'
import { objectId } from '../../../http/answers'
import { pageFields, Pagination } from '../../../http/paging'
import { searchText } from '../../../http/query'
import { line } from '../../../http/fields'
import { ConnectionOptions } from '../../../providers/connection-options'
import { customIssue } from '../../../wire/field-error'
import { limit } from '../../../platform/integer'
import {
  NetworkAnswer,
  NetworkFields,
  PlatformNetworkAnswer,
  PlatformNetworkFields,
} from './network-fields'
import { TimeoutAnswer, TimeoutFields } from './timeout-fields'
import { billingModes, findScopeIssues, scopes } from '../../../http/owner-scope'

const perMinute = limit.nullish()
const rateLimits = z
  .object({
    rpm: perMinute,
    tpm: perMinute,
    images_per_minute: perMinute,
    audio_seconds_per_minute: perMinute,
  })
  .optional()
const priority = z.int().min(1).max(1000).optional()
const secret = z.string().trim().min(1).max(8192)

// Only the operator's own settings may name private addresses, so http is allowed here.
const platformEndpoint = z
  .url({ protocol: /^https?$/ })
  .max(500)
  .refine((url) => !URL.parse(url)?.username, {
    params: { issue: 'not_allowed' },
    message: 'must not contain a user name.',
  })
  .transform((url) => url.replace(/\/+$/, ''))

const platformFields = {
  name: line(100),
  endpoint_url: platformEndpoint.nullish(),
  is_default: z.boolean().optional(),
  priority,
  /** Regions, versions and deployments; replaced as a whole. */
  options: ConnectionOptions.optional(),
  network: PlatformNetworkFields.nullish(),
  rate_limits: rateLimits,
}

/** A new platform connection. Source: contract 7.1, 9.2. */
export const NewPlatformConnection = z
  .object({
    ...platformFields,
    provider: z.string().min(1).max(40),
    api_key: secret.optional(),
  })
  .meta({ ref: 'NewPlatformConnection' })
export type NewPlatformConnection = z.output<typeof NewPlatformConnection>

export const ChangedPlatformConnection = z
  .object({ ...platformFields, api_key: secret, status: z.enum(['active', 'inactive']) })
  .partial()
  .meta({ ref: 'ChangedPlatformConnection' })
export type ChangedPlatformConnection = z.output<typeof ChangedPlatformConnection>

export const NewSecret = z.object({ api_key: secret }).meta({ ref: 'NewSecret' })

// The store checks the address against the current rules.
const endpoint = z
  .string()
  .trim()
  .max(500)
  .refine((url) => URL.canParse(url), {
    params: { issue: 'bad_format' },
    message: 'must be a URL such as https://api.example.com/v1.',
  })

interface ByGateway {
  gateway_type: 2 | 3
  gateway_id?: string | undefined
  api_key?: string | undefined
  endpoint_url?: string | undefined
  network?: NetworkFields | null | undefined
}

/** Rejects secrets and addresses for a gateway's connection: the gateway has its own and never shares them. */
function gatewayIssues(fields: ByGateway) {
  if (fields.gateway_type === 2) {
    if (fields.gateway_id === undefined) return []
    return [customIssue('not_allowed', 'only allowed for gateway_type 3.', ['gateway_id'])]
  }
  const missingGatewayId = customIssue('required', 'required for gateway_type 3.', ['gateway_id'])
  const disallowed = (['api_key', 'endpoint_url', 'network'] as const).filter(
    (name) => fields[name] !== undefined,
  )
  return [
    ...disallowed.map((name) =>
      customIssue('not_allowed', 'not allowed here, the gateway configures it.', [name]),
    ),
    ...(fields.gateway_id === undefined ? [missingGatewayId] : []),
  ]
}

/** A new connection of a customer, in the order of the table. Source: contract 7.1. */
export const NewConnection = z
  .object({
    name: line(100),
    provider: z.string().min(1).max(40),
    api_key: secret.optional(),
    endpoint_url: endpoint.optional(),
    network: NetworkFields.optional(),
    gateway_type: z.literal([2, 3]).default(2),
    gateway_id: z.string().max(100).optional(),
    scope: z.enum(scopes).default('individual'),
    organization_id: z.string().max(100).optional(),
    billing_mode: z.enum(billingModes).optional(),
    is_default: z.boolean().optional(),
    priority,
    rate_limits: rateLimits,
    timeouts: TimeoutFields.nullish(),
  })
  .superRefine((fields, ctx) => {
    for (const issue of gatewayIssues(fields)) ctx.addIssue(issue)
    for (const issue of findScopeIssues(fields, ['organization_id', 'billing_mode']))
      ctx.addIssue(issue)
  })
  .meta({ ref: 'NewConnection' })
export type NewConnection = z.output<typeof NewConnection>

export const ChangedConnection = z
  .object({
    name: line(100).optional(),
    api_key: secret.optional(),
    endpoint_url: endpoint.nullish(),
    network: NetworkFields.nullish(),
    billing_mode: z.enum(billingModes).optional(),
    is_default: z.boolean().optional(),
    priority,
    rate_limits: rateLimits,
    timeouts: TimeoutFields.nullish(),
    status: z.enum(['active', 'inactive']).optional(),
  })
  .meta({ ref: 'ChangedConnection' })
export type ChangedConnection = z.output<typeof ChangedConnection>

/** The operator's limits apply to flat prices per token. */
const OwnerPricing = PricingFields.superRefine((fields, ctx) => {
  for (const [name, unit] of operatorUnits) {
    if (fields[name] === undefined || fields[name] === null) continue
    ctx.addIssue(customIssue('not_allowed', `only the operator can set prices by ${unit}.`, [name]))
  }
})

const operatorUnits = [
  ['input_characters', 'the character'],
  ['output_characters', 'the character'],
  ['second', 'the second'],
  ['audio_hour', 'the hour'],
  ['image', 'the piece'],
  ['request', 'the piece'],
  ['search', 'the piece'],
  ['made_image', 'the piece'],
  ['made_megapixel', 'the piece'],
  ['tiers', 'tier'],
] as const

/** The price of a model that only this connection has; null to remove it. */
export const SetPrice = z
  .object({
    model: z.string().min(3).max(256),
    pricing: OwnerPricing.nullable(),
  })
  .meta({ ref: 'SetPrice' })
export type SetPrice = z.output<typeof SetPrice>

/** Filters of the list. */
export const ConnectionFilters = z.object({
  provider: z.string().max(40).optional().describe('Only connections of this provider'),
  gateway_type: z.coerce
    .number()
    .pipe(z.literal([2, 3]))
    .meta({ type: 'integer', enum: [2, 3] })
    .optional()
    .describe('2 for connections with a key, 3 for connections of self-hosted gateways'),
  status: z
    .enum(['active', 'inactive', 'error'])
    .optional()
    .describe('Only connections with this status'),
  scope: z.enum(scopes).optional().describe('Only connections of accounts, or of organizations'),
  organization_id: z.string().max(100).optional().describe('Only connections of this organization'),
})
export type ConnectionFilters = z.output<typeof ConnectionFilters>

export const Connection = z
  .object({
    id: objectId('conn'),
    name: z.string().meta({ examples: ['My key'] }),
    provider: z.string().meta({ examples: ['anthropic'] }),
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
      .object({
        rpm: z.int().nullable(),
        tpm: z.int().nullable(),
        images_per_minute: z.int().nullable(),
        audio_seconds_per_minute: z.int().nullable(),
      })
      .nullable()
      .describe('Null unless the caller may change the connection'),
    timeouts: TimeoutAnswer.nullable().describe(
      'Timeouts of its own in seconds; null where it has none, and unless the caller may change the connection',
    ),
    network: NetworkAnswer.nullable().describe(
      'Certificates of its own; null where it has none, and unless the caller may change the connection',
    ),
    model_count: z.int(),
    api_key_prefix: z.string().nullable(),
    last_error: z.string().nullable(),
    last_tested_at: z.iso.datetime().nullable(),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .meta({ ref: 'Connection' })
export type Connection = z.output<typeof Connection>

/** A connection of the platform, as operators see it; only these have options and a source. */
export const PlatformConnection = Connection.omit({ timeouts: true })
  .extend({
    scope: z.literal('platform'),
    organization_id: z.null(),
    billing_mode: z.null(),
    options: z.record(z.string(), z.unknown()).describe('Regions, versions and deployments'),
    network: PlatformNetworkAnswer.nullable().describe(
      'Certificates and proxy; null where it has none',
    ),
    source: z
      .enum(['stored', 'environment', 'discovered', 'built_in'])
      .describe('Only a stored connection can be changed; the others have no times'),
    created_at: z.iso.datetime().nullable(),
    updated_at: z.iso.datetime().nullable(),
  })
  .meta({ ref: 'PlatformConnection' })
export type PlatformConnection = z.output<typeof PlatformConnection>

export const PlatformConnectionFilter = z.object({
  search: searchText('Text in the name or the provider'),
  ...pageFields,
})

export const PlatformConnectionList = z
  .object({ connections: z.array(PlatformConnection), pagination: Pagination })
  .meta({ ref: 'PlatformConnectionList' })

export const ConnectionList = z
  .object({ connections: z.array(Connection), pagination: Pagination })
  .meta({ ref: 'ConnectionList' })

export const ConnectionModel = z
  .object({
    id: z.string().describe('The ID in requests'),
    name: z.string(),
    in_catalogue: z.boolean().describe('Whether the operator sets the price'),
    pricing: PricingAnswer.nullable().describe(
      'The price that is charged; null where it is free, or unknown. Set by the owner for a model that the catalogue lacks.',
    ),
    is_limited: z
      .boolean()
      .describe('Whether the price of the owner exceeds the current maximum of the operator'),
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
