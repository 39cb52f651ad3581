import type { Ports } from './job'
import type { Principal } from '../auth/principal'
import type { AccountCatalog } from '../catalog/account-catalog'
import type { Ways } from '../routing/candidate'
import { resolve, type Question, type Resolution, type Routing } from '../routing/resolve'

/** Of an account that nothing is known of its mappings are not known either: both are asked for at once. */
const withMappings = async <Read>(account: Promise<Read>, userId: string, { names }: Routing) =>
  (await Promise.all([account, names.mappingsOf(userId)]))[0]

/**
 * What a name comes to for its caller. A request keeps the catalogue, and so the prices, that it began
 * with. A promise, and failures, as `resolve` has them.
 */
export function resolutionOf(
  { name, kinds, demands, only }: Omit<Question, 'ways'> & Pick<Ways, 'only'>,
  { userId, accountId }: Principal,
  { catalog, routing, turns, settings }: Pick<Ports, 'catalog' | 'routing' | 'turns' | 'settings'>,
): Resolution | Promise<Resolution> {
  const { snapshot } = catalog
  const resolved = (own: AccountCatalog) => {
    const caller = { userId, accountId, catalog: own }
    const ways = { snapshot, caller, turns, open: settings.current, only }
    return resolve({ name, kinds, demands, ways }, routing)
  }
  const known = routing.accounts.of(userId)
  return known instanceof Promise
    ? withMappings(known, userId, routing).then(resolved)
    : resolved(known)
}
