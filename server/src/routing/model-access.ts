import type { AccountCatalog } from '../catalog/account-catalog'
import { collectionPrefix, type Collection } from '../catalog/collection'
import type { Model } from '../catalog/model'
import { findModelByName, toProviderKey, withProviderKey } from '../catalog/model-names'
import type { Snapshot } from '../catalog/snapshot'
import { ApiError } from '../errors'
import { refusalText, type AccessListName, type AccessLists } from '../platform/access-lists'
import { isAllowedModel, isModelName, splitModelId } from '../wire/model-id'

/** The parts of a model by which lists refuse it: its id, and the name that its provider gets. */
type ListedModel = Pick<Model, 'id' | 'provider' | 'upstreamModel'>

/**
 * Returns the list that refuses a model to a key; undefined where none does. Lists that deny come first, and each
 * list must permit the model.
 */
export function findModelRefusal(
  { id, provider, upstreamModel }: ListedModel,
  lists: AccessLists | null | undefined,
  snapshot: Snapshot,
): AccessListName | undefined {
  if (!lists) return undefined
  const { models: denied, deniedProviders, allowedProviders } = resolveLists(lists, snapshot)
  if (denied) {
    // An alias of a model may send another of its versions to the provider.
    const sentName = `${provider}/${upstreamModel}`
    if (isAllowedModel(id, denied) || denied.includes(sentName)) return 'denied_models'
  }
  if (deniedProviders?.includes(provider)) return 'denied_providers'
  if (!isAllowedModel(id, lists.allowed_models)) return 'allowed_models'
  return allowedProviders && !allowedProviders.includes(provider) ? 'allowed_providers' : undefined
}

/** Lists whose names are those of the catalogue. */
interface ResolvedLists {
  snapshot: Snapshot
  models: readonly string[] | null
  deniedProviders: readonly string[] | null
  allowedProviders: readonly string[] | null
}

const resolvedLists = new WeakMap<AccessLists, ResolvedLists>()

/** Resolves the names in lists once for a catalogue: models may be denied, and providers be listed, by an alias. */
function resolveLists(lists: AccessLists, snapshot: Snapshot): ResolvedLists {
  const knownLists = resolvedLists.get(lists)
  if (knownLists?.snapshot === snapshot) return knownLists
  const { denied_models, denied_providers, allowed_providers } = lists
  const toKeys = (names: readonly string[] | null) =>
    names?.map((name) => (snapshot.providers.has(name) ? name : toProviderKey(name))) ?? null
  const currentLists = {
    snapshot,
    models: denied_models?.flatMap((name) => namesOfDenied(name, snapshot)) ?? null,
    deniedProviders: toKeys(denied_providers),
    allowedProviders: toKeys(allowed_providers),
  }
  resolvedLists.set(lists, currentLists)
  return currentLists
}

function namesOfDenied(listedName: string, snapshot: Snapshot): string[] {
  const isKnown = snapshot.providers.has(listedName.slice(0, listedName.indexOf('/')))
  const name = isKnown ? listedName : (withProviderKey(listedName) ?? listedName)
  const model = isModelName(name) ? findModelByName(snapshot, name) : undefined
  // A version of a model is denied by the name that its provider gets, without the model's other versions.
  const isVersion = model && model.upstreamModel !== snapshot.models.get(model.id)?.upstreamModel
  return model && !isVersion ? [name, model.id] : [name]
}

/** Returns the list that refuses a collection, by its name without the prefix; undefined where none does. */
export function findCollectionRefusal(
  name: string,
  lists: AccessLists | null | undefined,
): AccessListName | undefined {
  if (!lists) return undefined
  const { denied_collections: deniedNames, allowed_collections: allowedNames } = lists
  const listedName = `${collectionPrefix}${name}`
  if (deniedNames !== null && isAllowedModel(listedName, deniedNames)) return 'denied_collections'
  return isAllowedModel(listedName, allowedNames) ? undefined : 'allowed_collections'
}

/** The parts of a caller that decide which models of a collection it may call. */
interface ListedCaller {
  accessLists?: AccessLists | null | undefined
  catalog: AccountCatalog
}

/** Returns whether a key may call a collection, and one of its models at least. */
export function isCallableCollection(
  { name, members }: Pick<Collection, 'name' | 'members'>,
  { accessLists, catalog }: ListedCaller,
  snapshot: Snapshot,
): boolean {
  if (!accessLists) return true
  if (findCollectionRefusal(name, accessLists) !== undefined) return false
  return members.some(({ modelId }) => {
    if (!isModelName(modelId)) return false
    const { provider, name: upstreamModel } = splitModelId(modelId)
    const isDiscovered = !snapshot.models.has(modelId) && catalog.find(provider, upstreamModel)
    const model = isDiscovered ? undefined : findModelByName(snapshot, modelId)
    const listedModel = model ?? { id: modelId, provider, upstreamModel }
    return findModelRefusal(listedModel, accessLists, snapshot) === undefined
  })
}

/** The error about a model or a collection that a list of the key refuses. */
export const toListRefusal = (name: string, list: AccessListName): ApiError =>
  new ApiError('model_access_denied', {
    param: 'model',
    message: `This API key may not call "${name}": ${refusalText(list)}. GET /v1/models lists what it may call.`,
    details: { model: name },
  })
