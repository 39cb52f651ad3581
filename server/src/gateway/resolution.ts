import type { GatewayPorts } from './request'
import type { Principal } from '../auth/principal'
import type { AccountCatalog } from '../catalog/account-catalog'
import type { Mappings } from '../catalog/mapping'
import type { Snapshot } from '../catalog/snapshot'
import type { Open, RoutingContext } from '../routing/candidate'
import { resolve, type Question, type Resolution } from '../routing/resolve-model'

/** The resolution of a name, and its inputs beside the catalogue: each change of one makes a new object. */
interface Remembered {
  resolution: Resolution
  kinds: Question['kinds']
  own: AccountCatalog
  mappings: Mappings
  open: Open
}

type ByName = Map<string, Remembered>

/**
 * By key and name, as nearly all requests repeat an earlier name. Bound to the catalogue, so that an idle key retains
 * no old one.
 */
const remembered = new WeakMap<Snapshot, WeakMap<Principal, ByName>>()
/** The maximum number of names of one key. */
const mostNames = 4

type Asked = Omit<Question, 'ways'> & Pick<RoutingContext, 'only' | 'conversation'>
type ResolutionPorts = Pick<GatewayPorts, 'routing' | 'turns' | 'settings'> & {
  catalog: { readonly snapshot: Snapshot }
}

interface Asking {
  asked: Asked
  principal: Principal
  ports: ResolutionPorts
}

/**
 * Resolves a name for its caller. A request keeps the catalogue, and so the prices, with which it began. Promises and
 * failures are those of `resolve`.
 */
export function resolveModel(
  asked: Asked,
  principal: Principal,
  ports: ResolutionPorts,
): Resolution | Promise<Resolution> {
  const { userId } = principal
  const { routing } = ports
  const own = routing.accounts.of(userId)
  const mappings = routing.names.mappingsOf(userId)
  if (own instanceof Promise || mappings instanceof Promise) {
    return resolvedLater(Promise.all([own, mappings]), { asked, principal, ports })
  }
  const { snapshot } = ports.catalog
  const open = ports.settings.current
  const names = namesOf(principal, snapshot)
  const last = asked.only === undefined ? names.get(asked.name) : undefined
  const isSame =
    last &&
    last.kinds === asked.kinds &&
    last.own === own &&
    last.mappings === mappings &&
    last.open === open
  if (isSame) return last.resolution
  const resolution = resolved(own, { asked, principal, ports })
  if (asked.only === undefined && !(resolution instanceof Promise) && isLasting(resolution)) {
    if (!last && names.size >= mostNames) names.clear()
    names.set(asked.name, { resolution, kinds: asked.kinds, own, mappings, open })
  }
  return resolution
}

/** The mappings of an account that is not cached are not cached either: both are loaded at once. */
async function resolvedLater(
  lookedUp: Promise<[AccountCatalog, Mappings]>,
  asking: Asking,
): Promise<Resolution> {
  const [own] = await lookedUp
  return resolved(own, asking)
}

function resolved(own: AccountCatalog, { asked, principal, ports }: Asking) {
  const { name, kinds, demands, only, conversation } = asked
  const { userId, accountId } = principal
  const { catalog, routing, turns, settings } = ports
  const caller = { userId, accountId, catalog: own }
  const ways = {
    snapshot: catalog.snapshot,
    caller,
    turns,
    open: settings.current,
    only,
    conversation,
  }
  return resolve({ name, kinds, demands, ways }, routing)
}

/** Connections of a pool are in another order each time. */
const isLasting = ({ candidates }: Resolution) => !candidates.some(({ isPooled }) => isPooled)

function namesOf(principal: Principal, snapshot: Snapshot): ByName {
  const keys = remembered.get(snapshot) ?? new WeakMap<Principal, ByName>()
  const names = keys.get(principal) ?? new Map<string, Remembered>()
  if (!keys.has(principal)) {
    remembered.set(snapshot, keys)
    keys.set(principal, names)
  }
  return names
}
