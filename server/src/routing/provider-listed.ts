import { toPlatformCandidates, type Candidate, type RoutingContext } from './candidate'
import { toModel } from './discovered-model'
import { findModelRefusal } from './model-access'
import { resolveName, type NameMeaning } from './resolve-name'
import type { AccountNames } from '../catalog/account-names'
import { filterUnlisted } from '../catalog/discovered-models'
import type { Mapped, Mappings } from '../catalog/mapping'
import type { Category, Model } from '../catalog/model'
import { isNameOfDisabled } from '../catalog/model-names'
import { servesKind } from '../catalog/served-kinds'
import { applyUnpricedPolicy } from '../catalog/unpriced-policy'
import type { ProviderConnection } from '../catalog/snapshot'
import type { Provider } from '../providers/provider'
import { ApiError } from '../errors'
import { isModelName, splitModelId } from '../wire/model-id'

/** Finds the connections of the platform whose provider lists a model itself. Never rejects. */
export interface FindServing {
  findServing: (
    offer: { provider: Provider; connections: readonly ProviderConnection[] },
    name: string,
  ) => Promise<ProviderConnection[]>
}

/** A name, with its caller and the categories of models that the endpoint serves. */
interface UnlistedName {
  name: string
  kinds: readonly Category[]
  context: RoutingContext
  first?: Mappings | undefined
}

interface Lookups {
  names: AccountNames
  providerLists?: FindServing | undefined
}

interface ListedByProvider {
  model: Model
  candidates: readonly Candidate[]
  mapping: Mapped | undefined
}

/**
 * Resolves a name that the catalogue does not have, but the provider's own list: it is served on the platform's
 * connections as the operator's setting for models without a price says. Undefined where that is not so, or where the
 * operator refuses such models.
 */
export async function resolveProviderListed(
  unlisted: UnlistedName,
  { names, providerLists }: Lookups,
): Promise<ListedByProvider | undefined> {
  const { caller, open } = unlisted.context
  if (!providerLists || open.unpricedModels === 'refuse' || !open.platformConnections)
    return undefined
  const meaning = await meaningOf(unlisted, names)
  if (meaning?.kind !== 'model' || !isModelName(meaning.id)) return undefined
  const { id, mapping } = meaning
  const offer = findOffer(id, unlisted)
  if (!offer) return undefined
  const { provider } = offer
  const refusingList = findModelRefusal(
    { id, provider: provider.key, upstreamModel: splitModelId(id).name },
    caller.accessLists,
    unlisted.context.snapshot,
  )
  if (refusingList !== undefined) return undefined
  const connections = await providerLists.findServing(offer, splitModelId(id).name)
  if (connections.length === 0) return undefined
  const model = applyUnpricedPolicy(unpricedModel(id, unlisted.kinds), open.unpricedModels)
  return {
    model,
    candidates: toPlatformCandidates(model, { provider, connections }, caller),
    mapping,
  }
}

/** Finds the connections of the platform that may serve a model which the catalogue does not have. */
function findOffer(modelId: string, { kinds, context: { snapshot, only } }: UnlistedName) {
  const { provider: key, name } = splitModelId(modelId)
  const provider = snapshot.providers.get(key)
  const connections = snapshot.connections
    .get(key)
    ?.filter(({ id, onlyModels }) => !onlyModels && (only === undefined || id === only))
  if (!provider || !connections?.length || !servesKinds(provider, kinds)) return undefined
  // A model that the operator has disabled stays unknown, by its aliases too, as does one of another kind.
  const isUnlisted = filterUnlisted(snapshot, provider, [name]).length > 0
  return isUnlisted && !isNameOfDisabled(snapshot, modelId) ? { provider, connections } : undefined
}

async function meaningOf(
  { name, first, context: { snapshot, caller } }: UnlistedName,
  names: AccountNames,
): Promise<NameMeaning | undefined> {
  try {
    return await resolveName(name, { snapshot, caller, names, first })
  } catch (thrown) {
    if (thrown instanceof ApiError) return undefined
    throw thrown
  }
}

const servesKinds = (provider: Provider, kinds: readonly Category[]): boolean =>
  kinds.some((kind) => servesKind(provider, kind))

/** Only its name is known, as of models that only connections have. */
function unpricedModel(id: string, kinds: readonly Category[]): Model {
  const { provider, name } = splitModelId(id)
  const discoveredModel = { id, provider, name, foundAt: 0, pricing: null }
  return { ...toModel(discoveredModel, kinds, { ownerPriceLimits: noLimits }), isFree: false }
}

const noLimits = { input: 0n, output: 0n }
