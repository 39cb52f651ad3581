import { z } from 'zod'
import { toUsd } from '../wire/usd'

/** The accounts that may pay a request, as its caller sees them. Source: contract 11.1. */
const payers = ['personal', 'organization', 'operator'] as const
export type PayerKind = (typeof payers)[number]

const payer = z.enum(payers)

/** The fields that name a payer. */
export const payerFields = {
  payer: payer
    .nullable()
    .describe('The account that pays: your own, an organization’s, or the operator; null for none'),
  payer_name: z
    .string()
    .nullable()
    .describe('The name of the organization that pays; null for others, and where it was deleted'),
}

/** The part of a cost that one account paid. Source: contract 11.5. */
export const PaidAmount = z
  .object({
    payer,
    organization_id: z.string().nullable(),
    payer_name: z.string().nullable().describe('The name of the organization'),
    cost: z.number().describe('USD'),
  })
  .meta({ ref: 'PaidAmount' })

/** Nano-dollars that one account paid. */
interface PaidNanos {
  payer: PayerKind
  organizationId: string | null
  name: string | null
  cost: bigint
}

export const toPaidAmount = ({ payer: kind, organizationId, name, cost }: PaidNanos) => ({
  payer: kind,
  organization_id: organizationId,
  payer_name: name,
  cost: toUsd(cost),
})

/** The fields of a log that decide its payer. */
interface PaidRequest {
  billing_mode: string | null
  account_id: string | null
  user_id: string
}

/** Returns who paid a request; null for one that was free, or reached no provider. */
export function payerOf({
  billing_mode: mode,
  account_id,
  user_id,
}: PaidRequest): PayerKind | null {
  if (mode === 'house') return 'operator'
  if (account_id === null) return null
  return account_id === user_id ? 'personal' : 'organization'
}
