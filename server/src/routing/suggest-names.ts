import { findCandidates, type RoutingContext } from './candidate'
import { toModel } from './discovered-model'
import { PoolRotation } from './pool-rotation'
import { findCollections } from './resolve-name'
import type { AccountNames } from '../catalog/account-names'
import { collectionPrefix, type Collection } from '../catalog/collection'
import { Mappings } from '../catalog/mapping'
import type { Category } from '../catalog/model'
import { findNearNames } from '../catalog/near-names'
import type { Snapshot } from '../catalog/snapshot'
import { ApiError } from '../errors'
import { isModelName, splitModelId } from '../wire/model-id'

/** The maximum number of names in one error. */
const maxSuggestions = 3
/** The maximum number of names whose connections are looked up for one error. */
const maxChecked = 100

/** A name that its caller may have misspelt, and the categories of models that the endpoint serves. */
export interface UnknownName {
  name: string
  kinds: readonly Category[]
  context: RoutingContext
}

/** An error about a name that means no model. */
export type UnknownNameError = ApiError<'invalid_model' | 'model_not_found'>

export const isUnknownName = (thrown: unknown): thrown is UnknownNameError =>
  thrown instanceof ApiError &&
  (thrown.code === 'invalid_model' || thrown.code === 'model_not_found')

/** Rejects with an error about a name, which also says what the caller may have meant. Source: contract 1.4. */
export async function rejectWithSuggestions(
  error: UnknownNameError,
  unknownName: UnknownName,
  names: AccountNames,
): Promise<never> {
  throw addSuggestions(error, await suggestNames(unknownName, names))
}

/** Adds the question whether one of some names was meant. */
export function addSuggestions(error: UnknownNameError, names: readonly string[]): ApiError {
  if (names.length === 0) return error
  const { code, param } = error
  const quotedNames = names.map((name) => `"${name}"`)
  const last = quotedNames.pop()
  const listedNames = quotedNames.length === 0 ? last : `${quotedNames.join(', ')} or ${last}`
  return new ApiError(code, { param, message: `${error.message} Did you mean ${listedNames}?` })
}

/** Finds the names like an unknown one that its caller may call now: the closest ones only. */
export async function suggestNames(
  { name, kinds, context }: UnknownName,
  names: AccountNames,
): Promise<string[]> {
  const { snapshot } = context
  const { mappings, collections } = await lookUpNames(context, names)
  const meantName = mappings.apply(name)?.target ?? name
  const scope = { kinds, collections, context: { ...context, rotation: new PoolRotation() } }
  let checkedCount = 0
  for (const group of findNearNames(meantName, snapshot, listOwn(collections, context))) {
    const callableNames: string[] = []
    for (const id of inOrder(group, meantName, snapshot)) {
      if (checkedCount >= maxChecked || callableNames.length >= maxSuggestions) break
      checkedCount += 1
      // A mapping sends its calls elsewhere.
      if (id !== meantName && !mappings.apply(id) && isCallable(id, scope)) callableNames.push(id)
    }
    if (callableNames.length > 0) return callableNames
  }
  return []
}

interface OwnNames {
  mappings: Pick<Mappings, 'apply'>
  /** By their whole names. */
  collections: ReadonlyMap<string, Collection>
}

/** The names that the caller gave to models; none where the database does not answer. */
async function lookUpNames(
  { snapshot, caller }: RoutingContext,
  names: AccountNames,
): Promise<OwnNames> {
  try {
    const mappings = await names.mappingsOf(caller.userId)
    const foundCollections = await findCollections({ snapshot, names, caller })
    const collections = new Map(
      foundCollections.map((one) => [`${collectionPrefix}${one.name}`, one]),
    )
    return { mappings, collections }
  } catch {
    // The error stays that about the name.
    return { mappings: new Mappings([]), collections: new Map() }
  }
}

/** The names that only this caller has: of collections, and of models that connections discovered. */
function* listOwn(
  collections: OwnNames['collections'],
  { snapshot, caller: { catalog } }: RoutingContext,
): Generator<string, void> {
  yield* collections.keys()
  if (catalog.isEmpty) return
  for (const provider of snapshot.providers.keys()) {
    for (const { connections } of catalog.offersOf(provider)) {
      for (const { discovered } of connections) {
        for (const name of discovered.keys()) yield `${provider}/${name}`
      }
    }
  }
}

/** The provider that the caller named first, then a model's maker, before those that serve others' models. */
function inOrder(ids: readonly string[], name: string, { providers }: Snapshot): string[] {
  const order = [...providers.keys()]
  const namedProvider = name.slice(0, name.indexOf('/')).toLowerCase()
  const rankOf = (id: string) => {
    const provider = id.slice(0, id.indexOf('/'))
    const isNested = id.includes('/', provider.length + 1)
    return (provider === namedProvider ? 0 : 2000) + (isNested ? 1000 : 0) + order.indexOf(provider)
  }
  return ids.toSorted((one, other) => rankOf(one) - rankOf(other) || (one < other ? -1 : 1))
}

interface Scope {
  kinds: readonly Category[]
  collections: ReadonlyMap<string, Collection>
  context: RoutingContext
}

function isCallable(id: string, scope: Scope): boolean {
  const collection = scope.collections.get(id)
  if (!collection) return hasCandidates(id, scope)
  return collection.members
    .slice(0, maxChecked)
    .some(({ modelId }) => hasCandidates(modelId, scope))
}

function hasCandidates(id: string, { kinds, context }: Scope): boolean {
  const { snapshot, caller, open } = context
  if (!isModelName(id)) return false
  const { provider, name } = splitModelId(id)
  if (!snapshot.providers.has(provider)) return false
  const listedModel = snapshot.models.get(id)
  const discoveredModel = listedModel ? undefined : caller.catalog.find(provider, name)
  const model = discoveredModel ? toModel(discoveredModel, kinds, open) : listedModel
  if (!model?.enabled || !kinds.includes(model.category)) return false
  return findCandidates(model, context).length > 0
}
