import type { Ports } from './job'
import type { Principal } from '../auth/principal'
import type { Ways } from '../routing/candidate'
import { resolve, type Question, type Resolution, type Routing } from '../routing/resolve'

/** Of an account that nothing is known of its mappings are not known either: both are asked for at once. */
const withMappings = async <Read>(account: Promise<Read>, userId: string, { names }: Routing) =>
  (await Promise.all([account, names.mappingsOf(userId)]))[0]

/**
 * What a name comes to for its caller. A request keeps the catalogue, and so the prices, that it began
 * with. Rejects as `resolve` does.
 */
export async function resolutionOf(
  { only, ...question }: Omit<Question, 'ways'> & Pick<Ways, 'only'>,
  { userId, accountId }: Principal,
  { catalog, routing, turns, settings }: Pick<Ports, 'catalog' | 'routing' | 'turns' | 'settings'>,
): Promise<Resolution> {
  const { snapshot } = catalog
  const known = routing.accounts.of(userId)
  const own = known instanceof Promise ? await withMappings(known, userId, routing) : known
  const caller = { userId, accountId, catalog: own }
  return resolve(
    { ...question, ways: { snapshot, caller, turns, open: settings.current, only } },
    routing,
  )
}
