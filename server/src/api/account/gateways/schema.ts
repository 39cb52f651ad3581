import { z } from 'zod'
import { objectId } from '../../../http/answers'
import { Pagination } from '../../../http/paging'
import { line } from '../../../http/fields'
import { findScopeIssues, scopes } from '../../../http/owner-scope'

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
    for (const issue of findScopeIssues(fields, ['organization_id', 'is_public']))
      ctx.addIssue(issue)
  })
  .meta({ ref: 'NewGateway' })
export type NewGateway = z.output<typeof NewGateway>

/** Filters of the list. */
export const GatewayFilters = z.object({
  status: z.enum(statuses).optional().describe('Only gateways with this status'),
  scope: z.enum(scopes).optional().describe('Only gateways of accounts, or of organizations'),
})
export type GatewayFilters = z.output<typeof GatewayFilters>

const gatewayFields = {
  id: objectId('gw'),
  name: z.string().meta({ examples: ['The machine under the desk'] }),
  gateway_type: z.literal(3),
  status: z
    .enum(statuses)
    .describe('`starting` until its first announcement; `error` after a violation of the protocol'),
  scope: z.enum(scopes),
  organization_id: z.string().nullable(),
  is_public: z.boolean(),
  tool_count: z.int(),
  tools: z.array(z.object({ name: z.string(), description: z.string() })),
  providers: z.array(z.string()).describe('Providers that the gateway has credentials for'),
  version: z.string().nullable(),
  last_heartbeat_at: z.iso.datetime().nullable(),
  created_at: z.iso.datetime(),
}

export const Gateway = z.object(gatewayFields).meta({ ref: 'Gateway' })

/** A gateway with its token, which only this response contains. */
export const CreatedGateway = z
  .object({
    ...gatewayFields,
    token: z
      .string()
      .meta({ examples: ['gt-tg-...'] })
      .describe('The token of the gateway; only this response contains it'),
    connect_url: z
      .string()
      .meta({ examples: ['wss://tollgate.example/gateway'] })
      .describe('The address of the gateway socket'),
  })
  .meta({ ref: 'MadeGateway' })

export const GatewayList = z
  .object({ gateways: z.array(Gateway), pagination: Pagination })
  .meta({ ref: 'GatewayList' })
