import type { ValidatedRequest } from './attempt'
import type { ParsedRequest } from './parse'
import type { GatewayPorts } from './ports'
import type { PricedEndpoint } from './priced-endpoint'
import { findBudgetTags } from './request-tags'
import type { RequestLifecycle } from './settle'
import type { Principal } from '../auth/principal'
import type { AccountCatalog } from '../catalog/account-catalog'
import type { Mappings } from '../catalog/mapping'
import type { Snapshot } from '../catalog/snapshot'
import { stripUnpriced } from '../metering/unpriced-fields'
import { isByPrice, type Candidate, type Open, type RoutingContext } from '../routing/candidate'
import type { Question, Resolution } from '../routing/resolution'
import { resolve } from '../routing/resolve-model'

/** The resolution of a name, and its inputs beside the catalogue: each change of one makes a new object. */
interface CachedResolution {
  resolution: Resolution
  kinds: Question['kinds']
  own: AccountCatalog
  mappings: Mappings
  open: Open
  bareNames: boolean
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
  query: NameQuestion
  principal: Principal
  ports: ResolutionPorts
}

const isByNameAlone = ({ only, list }: NameQuestion): boolean =>
  only === undefined && list === undefined

/** Returns whether the provider of a model may be left out: always in formats without such names, else by setting. */
const acceptsBareNames = (
  { bareNames }: NameQuestion,
  { bareModelNames }: Principal,
  settings: { bareModelNames: boolean },
): boolean => bareNames ?? bareModelNames ?? settings.bareModelNames

/**
 * Resolves a name for its caller. A request keeps the catalogue, and so the prices, with which it began. Promises and
 * failures are those of `resolve`.
 */
export function resolveModel(
  query: NameQuestion,
  principal: Principal,
  ports: ResolutionPorts,
): Resolution | Promise<Resolution> {
  const { userId } = principal
  const { routing } = ports
  const own = routing.accounts.of(userId)
  const mappings = routing.names.mappingsOf(userId)
  if (own instanceof Promise || mappings instanceof Promise) {
    return resolveLater(Promise.all([own, mappings]), { query, principal, ports })
  }
  const { snapshot } = ports.catalog
  const open = ports.settings.current
  const bareNames = acceptsBareNames(query, principal, open)
  const byName = resolutionsOf(principal, snapshot)
  const isPlain = isByNameAlone(query)
  const last = isPlain ? byName.get(query.name) : undefined
  const isSame =
    last &&
    last.kinds === query.kinds &&
    last.own === own &&
    last.mappings === mappings &&
    last.open === open &&
    last.bareNames === bareNames
  if (isSame) return last.resolution
  const resolution = resolveNow(own, { query, principal, ports })
  if (isPlain && !(resolution instanceof Promise) && isLasting(resolution)) {
    if (!last && byName.size >= maxNames) byName.clear()
    byName.set(query.name, { resolution, kinds: query.kinds, own, mappings, open, bareNames })
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

function resolveNow(own: AccountCatalog, resolving: Resolving) {
  const { query, principal, ports } = resolving
  const { name, kinds, demands, only, conversation, list } = query
  const { userId, accountId, accessLists } = principal
  const { catalog, routing, rotation, settings } = ports
  const caller = { userId, accountId, catalog: own, accessLists }
  const context = {
    snapshot: catalog.snapshot,
    caller,
    rotation,
    open: settings.current,
    only,
    conversation,
  }
  const bareNames = acceptsBareNames(query, principal, settings.current)
  return resolve({ name, kinds, demands, context, bareNames, list }, routing)
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
  { kinds, bareNames }: Pick<Question, 'kinds' | 'bareNames'>,
  { call, conversation }: Pick<RequestLifecycle, 'call' | 'conversation'>,
  parsed: ParsedRequest<Params>,
) => ({
  name: parsed.params.model,
  kinds,
  bareNames,
  list: parsed.preferences?.fallbacks.length ? parsed.preferences : undefined,
  demands: parsed,
  only: call.connectionId,
  conversation,
})

/** The endpoint and the caller of a request. */
interface EndpointCall extends Pick<ValidatedRequest<unknown>, 'call' | 'principal' | 'ports'> {
  /** Its tags, beside those of its key. */
  tags: readonly string[] | undefined
  endpoint: Pick<PricedEndpoint<never>, 'priceKind'>
}

const isPaidByPrice = ({ billing }: Candidate): boolean => isByPrice(billing)

/** A parsed request with its candidates. */
export function toValidatedRequest<Params extends { model: string }>(
  parsed: ParsedRequest<Params>,
  resolution: Resolution,
  { endpoint, call, principal, ports, tags }: EndpointCall,
): ValidatedRequest<Params> {
  const { model, candidates, passedOver } = resolution
  const { body, bytes, params, translation } = parsed
  const { pricing } = model
  const isPriced = pricing !== null && candidates.every(isPaidByPrice)
  return {
    ports,
    call,
    principal,
    budgetTags: findBudgetTags(principal, tags, candidates),
    params,
    body,
    pricedBody: isPriced
      ? stripUnpriced(body, { endpoint: endpoint.priceKind, pricing })
      : undefined,
    bytes,
    translation,
    requestedModel: params.model,
    preferences: parsed.preferences,
    model,
    candidates,
    passedOver,
  }
}
