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
  unknown: UnknownName,
  names: AccountNames,
): Promise<never> {
  throw addSuggestions(error, await suggestNames(unknown, names))
}

/** Adds the question whether one of some names was meant. */
export function addSuggestions(error: UnknownNameError, names: readonly string[]): ApiError {
  if (names.length === 0) return error
  const { code, param } = error
  const quoted = names.map((name) => `"${name}"`)
  const last = quoted.pop()
  const listed = quoted.length === 0 ? last : `${quoted.join(', ')} or ${last}`
  return new ApiError(code, { param, message: `${error.message} Did you mean ${listed}?` })
}

/** Finds the names like an unknown one that its caller may call now: the closest ones only. */
export async function suggestNames(
  { name, kinds, context }: UnknownName,
  names: AccountNames,
): Promise<string[]> {
  const { snapshot } = context
  const { mappings, collections } = await lookUpNames(context, names)
  const meant = mappings.apply(name)?.target ?? name
  const scope = { kinds, collections, context: { ...context, rotation: new PoolRotation() } }
  let checked = 0
  for (const group of findNearNames(meant, snapshot, listOwn(collections, context))) {
    const callable: string[] = []
    for (const id of inOrder(group, meant, snapshot)) {
      if (checked >= maxChecked || callable.length >= maxSuggestions) break
      checked += 1
      // A mapping sends its calls elsewhere.
      if (id !== meant && !mappings.apply(id) && isCallable(id, scope)) callable.push(id)
    }
    if (callable.length > 0) return callable
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
    const found = await findCollections({ snapshot, names, caller })
    const collections = new Map(found.map((one) => [`${collectionPrefix}${one.name}`, one]))
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
  const named = name.slice(0, name.indexOf('/')).toLowerCase()
  const rankOf = (id: string) => {
    const provider = id.slice(0, id.indexOf('/'))
    const isNested = id.includes('/', provider.length + 1)
    return (provider === named ? 0 : 2000) + (isNested ? 1000 : 0) + order.indexOf(provider)
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
  const listed = snapshot.models.get(id)
  const discovered = listed ? undefined : caller.catalog.find(provider, name)
  const model = discovered ? toModel(discovered, kinds, open) : listed
  if (!model?.enabled || !kinds.includes(model.category)) return false
  return findCandidates(model, context).length > 0
}
