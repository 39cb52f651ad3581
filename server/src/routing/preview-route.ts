import type { Billing, RoutingContext } from './candidate'
import type { CollectionRotation } from './collection-rotation'
import type { Demands } from './collections'
import { PoolRotation } from './pool-rotation'
import type { Question, Resolution, Routing } from './resolution'
import { resolve } from './resolve-model'
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
  billing: Billing | undefined
  /** The error code of the rejection. */
  reason: ErrorCode | undefined
}

interface PreviewQuestion {
  name: string
  /** Mappings tried before the caller's own. */
  first?: Mappings | undefined
}

/** The demands of a request that does not exist yet. */
const noDemands: Demands = { needs: [], misfit: () => undefined, promptTokens: () => 0 }

/** Resolves a name as a call does, and changes nothing: no turn is taken. Rejects as `resolve` does. */
export async function lookUpRoute(
  query: Pick<Question, 'name' | 'kinds' | 'first'>,
  context: Omit<RoutingContext, 'rotation'>,
  routing: Routing & { rotation: CollectionRotation },
): Promise<Resolution> {
  const { rotation } = routing
  const demanding = { ...query, demands: noDemands }
  return resolve(
    { ...demanding, context: { ...context, rotation: new PoolRotation() } },
    { ...routing, rotation: { take: (collectionId) => rotation.peek(collectionId) } },
  )
}

/** Previews the route of a call for a name. */
export async function previewRoute(
  { name, first }: PreviewQuestion,
  context: Omit<RoutingContext, 'rotation'>,
  routing: Routing & { rotation: CollectionRotation },
): Promise<RoutePreview> {
  const mappings = await routing.names.mappingsOf(context.caller.userId)
  const mapping = first?.apply(name) ?? mappings.apply(name)
  const preview = {
    resolvedModel: mapping?.target ?? name,
    mappingId: mapping?.mappingId ?? null,
    isMatched: mapping !== undefined,
  }
  try {
    const { candidates } = await lookUpRoute({ name, first, kinds: categories }, context, routing)
    const [candidate] = candidates
    const { provider, billing } = candidate ?? {}
    return { ...preview, provider: provider?.key, billing, reason: undefined }
  } catch (thrown) {
    if (!(thrown instanceof ApiError)) throw thrown
    return { ...preview, provider: undefined, billing: undefined, reason: thrown.code }
  }
}
