import { z } from 'zod'
import { Pagination } from '../../../http/documentation'
import { line } from '../../../http/fields'
import { broken } from '../../../wire/field-error'

const scopes = ['individual', 'organization'] as const
const statuses = ['online', 'starting', 'offline', 'error'] as const

/** A new gateway. Source: contract 7.3. */
export const NewGateway = z
  .object({
    name: line(100),
    scope: z.enum(scopes).default('individual'),
    organization_id: z.string().max(100).optional(),
    is_public: z.boolean().default(false),
  })
  .superRefine((fields, ctx) => {
    if (fields.scope === 'organization') {
      if (fields.organization_id !== undefined) return
      ctx.addIssue(broken('required', 'needed for scope "organization".', ['organization_id']))
      return
    }
    if (fields.organization_id !== undefined) {
      ctx.addIssue(broken('not_allowed', 'only for scope "organization".', ['organization_id']))
    }
    if (fields.is_public) {
      ctx.addIssue(broken('not_allowed', 'only for scope "organization".', ['is_public']))
    }
  })
export type NewGateway = z.output<typeof NewGateway>

/** Filters of the list. */
export const GatewayFilters = z.object({
  status: z.enum(statuses).optional(),
  scope: z.enum(scopes).optional(),
})
export type GatewayFilters = z.output<typeof GatewayFilters>

const shown = {
  id: z.string(),
  name: z.string(),
  gateway_type: z.literal(3),
  status: z
    .enum(statuses)
    .describe(
      '`starting` until it has said what it serves; `error` after a breach of the protocol.',
    ),
  scope: z.enum(scopes),
  organization_id: z.string().nullable(),
  is_public: z.boolean(),
  tool_count: z.int(),
  tools: z.array(z.object({ name: z.string(), description: z.string() })),
  providers: z.array(z.string()).describe('Keys of the providers that it holds secrets for.'),
  version: z.string().nullable(),
  last_heartbeat_at: z.iso.datetime().nullable(),
  created_at: z.iso.datetime(),
}

export const Gateway = z.object(shown).meta({ ref: 'Gateway' })

/** A gateway with its token, which only this response contains. */
export const MadeGateway = z
  .object({
    ...shown,
    token: z.string().describe('What the gateway shows at its socket. It is not shown again.'),
    connect_url: z.string().describe('Where the gateway opens its WebSocket.'),
  })
  .meta({ ref: 'MadeGateway' })

export const GatewayList = z
  .object({ gateways: z.array(Gateway), pagination: Pagination })
  .meta({ ref: 'GatewayList' })
