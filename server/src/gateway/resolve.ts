import type { ValidatedRequest } from './attempt'
import { demandsOf } from './fit-check'
import type { ParsedRequest } from './parse'
import type { GatewayPorts } from './ports'
import type { PricedEndpoint } from './reserve'
import type { InboundRequest } from './request'
import type { Principal } from '../auth/principal'
import type { AccountCatalog } from '../catalog/account-catalog'
import type { Mappings } from '../catalog/mapping'
import type { Snapshot } from '../catalog/snapshot'
import { stripUnpriced } from '../metering/unpriced-fields'
import { isByPrice, type Open, type RoutingContext } from '../routing/candidate'
import { resolve, type Question, type Resolution } from '../routing/resolve-model'

/** The resolution of a name, and its inputs beside the catalogue: each change of one makes a new object. */
interface CachedResolution {
  resolution: Resolution
  kinds: Question['kinds']
  own: AccountCatalog
  mappings: Mappings
  open: Open
}

type ResolutionsByName = Map<string, CachedResolution>

/**
 * By key and name, as nearly all requests repeat an earlier name. Bound to the catalogue, so that an idle key retains
 * no old one.
 */
const resolutions = new WeakMap<Snapshot, WeakMap<Principal, ResolutionsByName>>()
/** The maximum number of names of one key. */
const maxNames = 4

type NameQuestion = Omit<Question, 'context'> & Pick<RoutingContext, 'only' | 'conversation'>
type ResolutionPorts = Pick<GatewayPorts, 'routing' | 'rotation' | 'settings'> & {
  catalog: { readonly snapshot: Snapshot }
}

interface Resolving {
  question: NameQuestion
  principal: Principal
  ports: ResolutionPorts
}

/**
 * Resolves a name for its caller. A request keeps the catalogue, and so the prices, with which it began. Promises and
 * failures are those of `resolve`.
 */
export function resolveModel(
  question: NameQuestion,
  principal: Principal,
  ports: ResolutionPorts,
): Resolution | Promise<Resolution> {
  const { userId } = principal
  const { routing } = ports
  const own = routing.accounts.of(userId)
  const mappings = routing.names.mappingsOf(userId)
  if (own instanceof Promise || mappings instanceof Promise) {
    return resolveLater(Promise.all([own, mappings]), { question, principal, ports })
  }
  const { snapshot } = ports.catalog
  const open = ports.settings.current
  const byName = resolutionsOf(principal, snapshot)
  const last = question.only === undefined ? byName.get(question.name) : undefined
  const isSame =
    last &&
    last.kinds === question.kinds &&
    last.own === own &&
    last.mappings === mappings &&
    last.open === open
  if (isSame) return last.resolution
  const resolution = resolveNow(own, { question, principal, ports })
  if (question.only === undefined && !(resolution instanceof Promise) && isLasting(resolution)) {
    if (!last && byName.size >= maxNames) byName.clear()
    byName.set(question.name, { resolution, kinds: question.kinds, own, mappings, open })
  }
  return resolution
}

/** The mappings of an account that is not cached are not cached either: both are loaded at once. */
async function resolveLater(
  lookedUp: Promise<[AccountCatalog, Mappings]>,
  resolving: Resolving,
): Promise<Resolution> {
  const [own] = await lookedUp
  return resolveNow(own, resolving)
}

function resolveNow(own: AccountCatalog, { question, principal, ports }: Resolving) {
  const { name, kinds, demands, only, conversation } = question
  const { userId, accountId, allowedModels } = principal
  const { catalog, routing, rotation, settings } = ports
  const caller = { userId, accountId, catalog: own, allowedModels }
  const context = {
    snapshot: catalog.snapshot,
    caller,
    rotation,
    open: settings.current,
    only,
    conversation,
  }
  return resolve({ name, kinds, demands, context }, routing)
}

/** Connections of a pool are in another order each time. */
const isLasting = ({ candidates }: Resolution) => !candidates.some(({ isPooled }) => isPooled)

function resolutionsOf(principal: Principal, snapshot: Snapshot): ResolutionsByName {
  const keys = resolutions.get(snapshot) ?? new WeakMap<Principal, ResolutionsByName>()
  const names = keys.get(principal) ?? new Map<string, CachedResolution>()
  if (!keys.has(principal)) {
    resolutions.set(snapshot, keys)
    keys.set(principal, names)
  }
  return names
}

/** The question for the model of a request. */
export const toQuestion = <Params extends { model: string }>(
  { kinds }: Pick<Question, 'kinds'>,
  { connectionId }: InboundRequest,
  parsed: ParsedRequest<Params>,
) => ({
  name: parsed.params.model,
  kinds,
  demands: () => demandsOf(parsed),
  only: connectionId,
})

/** A parsed request with its candidates. */
export function toValidatedRequest<Params extends { model: string }>(
  endpoint: Pick<PricedEndpoint<never>, 'priced'>,
  { parsed, resolution }: { parsed: ParsedRequest<Params>; resolution: Resolution },
  { call, principal, ports }: Pick<ValidatedRequest<Params>, 'call' | 'principal' | 'ports'>,
): ValidatedRequest<Params> {
  const { model, candidates, passedOver } = resolution
  const { body, bytes, params, translation } = parsed
  const { pricing } = model
  const isPriced = pricing !== null && candidates.every(({ billing }) => isByPrice(billing))
  return {
    ports,
    call,
    principal,
    params,
    body,
    pricedBody: isPriced ? stripUnpriced(body, { endpoint: endpoint.priced, pricing }) : undefined,
    bytes,
    translation,
    requestedModel: params.model,
    model,
    candidates,
    passedOver,
  }
}
