import { usd } from './money'

/** The payer of a request, as the API names it; null for no one. Source: contract 11.5. */
export interface Payer {
  payer: 'personal' | 'organization' | 'operator' | null
  /** The name of the organization; null for others, and where it was deleted. */
  payer_name: string | null
}

/** The account that sent a request, or an operator. */
export type Reader = 'owner' | 'operator'

export const organizationName = (name: string | null) => name ?? 'a deleted organization'

/** Names who pays, as part of a sentence. */
export function payerName({ payer, payer_name: name }: Payer, reader: Reader = 'owner'): string {
  if (payer === 'organization') return organizationName(name)
  if (payer === 'operator') return 'the operator'
  if (payer === null) return 'no one'
  return reader === 'owner' ? 'your credits' : 'the account’s credits'
}

/** The part of a cost that one account paid, in USD. */
type PaidPart = Payer & { cost: number }

/**
 * Splits a cost by who paid it, as a sentence; undefined where there is nothing to split: no cost, or all of it by the
 * account's own credits.
 */
export function describePaid(parts: readonly PaidPart[]): string | undefined {
  const paid = parts.filter(({ cost }) => cost > 0)
  if (paid.every(({ payer }) => payer === 'personal')) return undefined
  return paid.map((part) => `${usd(part.cost)} by ${payerName(part)}`).join(', ')
}

interface BilledRequest extends Payer {
  billing_mode: 'platform' | 'house' | 'byok' | 'org_pays' | 'member_pays' | 'free' | null
  organization_name: string | null
}

/** Explains who paid a request and how; null for one that reached no provider. */
export function describeBilling(request: BilledRequest, reader: Reader): string | null {
  const { billing_mode: mode, payer, payer_name, organization_name } = request
  const own = payerName({ payer: 'personal', payer_name: null }, reader)
  const organization = organizationName(payer_name)
  const texts: Readonly<Record<NonNullable<typeof mode>, string>> = {
    platform: payer === 'organization' ? `the credits of ${organization}` : own,
    house: 'not charged: billed to the operator',
    byok: `${reader === 'owner' ? 'your' : 'the account’s'} own key, billed by the provider`,
    org_pays: `${organization}, through its own connection`,
    member_pays: `${own}, for a connection of ${organizationName(organization_name)}`,
    free: 'free',
  }
  return mode === null ? null : texts[mode]
}
