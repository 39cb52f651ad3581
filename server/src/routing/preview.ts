import type { Billing, Ways } from './candidate'
import type { CollectionTurns } from './collection-turns'
import type { Demands } from './collections'
import { PoolTurns } from './pool-turns'
import { resolve, type Question, type Resolution, type Routing } from './resolve'
import type { Mappings } from '../catalog/mapping'
import { categories } from '../catalog/model'
import { ApiError, type ErrorCode } from '../errors'

/** What a call for a name would get. */
export interface Preview {
  /** The name as it is after mapping. */
  resolvedModel: string
  /** Null where no mapping is for it. */
  mappingId: string | null
  isMatched: boolean
  /** Who would be asked first; undefined where the call would be refused. */
  provider: string | undefined
  /** How the first attempt would be paid. */
  billingMode: Billing['mode'] | undefined
  /** The code of the refusal. */
  reason: ErrorCode | undefined
}

interface Asked {
  name: string
  /** Mappings tried before the caller's own. */
  first?: Mappings | undefined
}

/** Of a request that nobody has made yet. */
const nothingMuch: Demands = { needs: [], misfit: () => undefined, promptTokens: () => 0 }

/** Resolves a name as a call does, and changes nothing: no turn is taken. Rejects as `resolve` does. */
export async function looked(
  question: Pick<Question, 'name' | 'kinds' | 'first'>,
  ways: Omit<Ways, 'turns'>,
  routing: Routing & { turns: CollectionTurns },
): Promise<Resolution> {
  const { turns } = routing
  const demanding = { ...question, demands: () => nothingMuch }
  return resolve(
    { ...demanding, ways: { ...ways, turns: new PoolTurns() } },
    { ...routing, turns: { take: (collectionId) => turns.peek(collectionId) } },
  )
}

/** What a call for a name would get. */
export async function previewOf(
  { name, first }: Asked,
  ways: Omit<Ways, 'turns'>,
  routing: Routing & { turns: CollectionTurns },
): Promise<Preview> {
  const mappings = await routing.names.mappingsOf(ways.caller.userId)
  const mapped = first?.apply(name) ?? mappings.apply(name)
  const shown = {
    resolvedModel: mapped?.target ?? name,
    mappingId: mapped?.mappingId ?? null,
    isMatched: mapped !== undefined,
  }
  try {
    const { candidates } = await looked({ name, first, kinds: categories }, ways, routing)
    const [candidate] = candidates
    const billingMode = candidate?.billing.mode
    return { ...shown, provider: candidate?.provider.key, billingMode, reason: undefined }
  } catch (thrown) {
    if (!(thrown instanceof ApiError)) throw thrown
    return { ...shown, provider: undefined, billingMode: undefined, reason: thrown.code }
  }
}
