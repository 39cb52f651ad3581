import type { PayerKind } from '../../../http/payer'
import type { LogGroup, LogSums } from '../../../request-logs/log-sums'

/** The requests that one account paid, or that no account did. */
export interface PaidGroup extends LogGroup {
  payer: PayerKind | null
  organizationId: string | null
  payerName: string | null
}

/**
 * Groups an account's requests by who paid, the highest cost first. The operator's are logged on the account itself, and
 * known by their billing mode. Source: contract 11.1.
 */
export function toPaidGroups(
  userId: string,
  { payers, modes }: Pick<LogSums, 'payers' | 'modes'>,
  names: ReadonlyMap<string, string>,
): PaidGroup[] {
  const house = modes.find(({ name }) => name === 'house')
  const groups = payers.flatMap((group): PaidGroup[] => {
    const { name: id } = group
    if (id === null) return [{ ...group, payer: null, organizationId: null, payerName: null }]
    if (id === userId) {
      const own = house ? subtract(group, house) : group
      return [{ ...own, payer: 'personal', organizationId: null, payerName: null }]
    }
    const payerName = names.get(id) ?? null
    return [{ ...group, payer: 'organization', organizationId: id, payerName }]
  })
  if (house) groups.push({ ...house, payer: 'operator', organizationId: null, payerName: null })
  return groups
    .filter(({ requests }) => requests > 0n)
    .toSorted(
      (one, other) => Number(other.cost - one.cost) || Number(other.requests - one.requests),
    )
}

const subtract = (all: LogGroup, part: LogGroup): LogGroup => ({
  requests: all.requests - part.requests,
  input_tokens: all.input_tokens - part.input_tokens,
  output_tokens: all.output_tokens - part.output_tokens,
  cached_tokens: all.cached_tokens - part.cached_tokens,
  cache_savings: all.cache_savings - part.cache_savings,
  cost: all.cost - part.cost,
})
