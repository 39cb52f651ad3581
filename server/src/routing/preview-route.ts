import type { Billing, RoutingContext } from './candidate'
import type { CollectionTurns } from './collection-turns'
import type { Demands } from './collections'
import { PoolTurns } from './pool-turns'
import { resolve, type Question, type Resolution, type Routing } from './resolve-model'
import type { Mappings } from '../catalog/mapping'
import { categories } from '../catalog/model'
import { ApiError, type ErrorCode } from '../errors'

/** The result of a call for a name. */
export interface RoutePreview {
  /** The name as it is after mapping. */
  resolvedModel: string
  /** Null where no mapping is for it. */
  mappingId: string | null
  isMatched: boolean
  /** The provider that would be tried first; undefined where the call would be rejected. */
  provider: string | undefined
  /** The billing of the first attempt. */
  billingMode: Billing['mode'] | undefined
  /** The error code of the rejection. */
  reason: ErrorCode | undefined
}

interface Asked {
  name: string
  /** Mappings tried before the caller's own. */
  first?: Mappings | undefined
}

/** The demands of a request that does not exist yet. */
const nothingMuch: Demands = { needs: [], misfit: () => undefined, promptTokens: () => 0 }

/** Resolves a name as a call does, and changes nothing: no turn is taken. Rejects as `resolve` does. */
export async function lookUpRoute(
  question: Pick<Question, 'name' | 'kinds' | 'first'>,
  ways: Omit<RoutingContext, 'turns'>,
  routing: Routing & { turns: CollectionTurns },
): Promise<Resolution> {
  const { turns } = routing
  const demanding = { ...question, demands: () => nothingMuch }
  return resolve(
    { ...demanding, ways: { ...ways, turns: new PoolTurns() } },
    { ...routing, turns: { take: (collectionId) => turns.peek(collectionId) } },
  )
}

/** Previews the route of a call for a name. */
export async function previewRoute(
  { name, first }: Asked,
  ways: Omit<RoutingContext, 'turns'>,
  routing: Routing & { turns: CollectionTurns },
): Promise<RoutePreview> {
  const mappings = await routing.names.mappingsOf(ways.caller.userId)
  const mapped = first?.apply(name) ?? mappings.apply(name)
  const shown = {
    resolvedModel: mapped?.target ?? name,
    mappingId: mapped?.mappingId ?? null,
    isMatched: mapped !== undefined,
  }
  try {
    const { candidates } = await lookUpRoute({ name, first, kinds: categories }, ways, routing)
    const [candidate] = candidates
    const billingMode = candidate?.billing.mode
    return { ...shown, provider: candidate?.provider.key, billingMode, reason: undefined }
  } catch (thrown) {
    if (!(thrown instanceof ApiError)) throw thrown
    return { ...shown, provider: undefined, billingMode: undefined, reason: thrown.code }
  }
}
