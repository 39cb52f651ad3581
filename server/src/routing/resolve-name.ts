import type { RoutingCaller } from './candidate'
import { findCollectionRefusal, isCallableCollection, toListRefusal } from './model-access'
import type { AccountNames, NameOwner } from '../catalog/account-names'
import { findBareName } from '../catalog/bare-names'
import { collectionPrefix, type Collection } from '../catalog/collection'
import type { Mapped, Mappings } from '../catalog/mapping'
import { withProviderKey } from '../catalog/model-names'
import type { Snapshot } from '../catalog/snapshot'
import { ApiError } from '../errors'
import { parseProvider } from '../wire/model-id'

/** The meaning of a caller's name, before its existence is checked. */
export type NameMeaning =
  | { kind: 'model'; id: string; mapping: Mapped | undefined }
  | { kind: 'collection'; collection: Collection; mapping: Mapped | undefined }
  /** A model on the connections of one owner only. */
  | { kind: 'direct'; id: string; ownerId: string; mapping: Mapped | undefined }

interface NameScope {
  snapshot: Snapshot
  names: AccountNames
  caller: RoutingCaller
  /** Tried before the caller's own: of a preview. */
  first?: Mappings | undefined
  /** In the place of the caller's own. */
  mappings?: Mappings | undefined
  /** Whether the provider of a model may be left out. */
  bareNames?: boolean | undefined
}

/** The error for a name that is unknown to its caller. */
export const unknownModel = (id: string): ApiError =>
  new ApiError('model_not_found', {
    param: 'model',
    message: `Model "${id}" does not exist. GET /v1/models lists the available models.`,
  })

/**
 * Resolves the meaning of a name for its caller: mapped, at most once, else with its provider where that may be left
 * out, then by its form. For models of the catalogue
 * without a promise. Throws or rejects with `invalid_model`, `model_not_found`, and for handles `model_access_denied`
 * and `organization_required`. Source: contract 1.4, 6.6, 10.1.
 */
export function resolveName(name: string, scope: NameScope): NameMeaning | Promise<NameMeaning> {
  const mappings = scope.mappings ?? scope.names.mappingsOf(scope.caller.userId)
  return mappings instanceof Promise
    ? mappings.then((ownMappings) => formOf(name, ownMappings, scope))
    : formOf(name, mappings, scope)
}

function formOf(
  requestedName: string,
  mappings: Mappings,
  scope: NameScope,
): NameMeaning | Promise<NameMeaning> {
  const mapping = scope.first?.apply(requestedName) ?? mappings.apply(requestedName)
  const id = mapping ? mapping.target : withProvider(requestedName, scope)
  const provider = parseProvider(id)
  if (id.startsWith(collectionPrefix)) {
    return findCollection(id.slice(collectionPrefix.length), scope).then((collection) => {
      const refusingList = findCollectionRefusal(collection.name, scope.caller.accessLists)
      if (refusingList !== undefined) throw toListRefusal(id, refusingList)
      return { kind: 'collection', collection, mapping }
    })
  }
  if (scope.snapshot.providers.has(provider)) return { kind: 'model', id, mapping }
  return resolveHandle(id, provider, scope).then((meaning) => ({ ...meaning, mapping }))
}

/** A name that means no single model stays as it is. */
const withProvider = (name: string, { snapshot, bareNames }: NameScope): string =>
  bareNames && !name.includes('/') ? (findBareName(snapshot, name) ?? name) : name

/** The caller's own, then those of organizations, the primary one's first, then the system's. */
async function findCollection(
  name: string,
  { snapshot, names, caller }: NameScope,
): Promise<Collection> {
  for (const ownerId of listOwners(caller)) {
    const collection = (await names.collectionsOf(ownerId)).get(name)
    if (collection) return collection
  }
  const collection = snapshot.collections.get(name)
  if (!collection) throw unknownModel(`${collectionPrefix}${name}`)
  return collection
}

/** The owners of the collections that a caller may call, by precedence. */
const listOwners = ({ userId, catalog }: RoutingCaller): string[] => [
  userId,
  ...catalog.memberships
    .filter(({ status, role }) => status === 'active' && role !== 'viewer')
    .map(({ organizationId }) => organizationId),
]

/** Finds all collections that a caller may call, by name; those without members are left out. */
export async function findCollections({
  snapshot,
  names,
  caller,
}: Pick<NameScope, 'snapshot' | 'names' | 'caller'>): Promise<Collection[]> {
  const collectionsByName = new Map(snapshot.collections)
  const ownedCollections = listOwners(caller).map(async (ownerId) => names.collectionsOf(ownerId))
  // Owners with precedence replace the others' collections of the same name.
  for (const collections of (await Promise.all(ownedCollections)).toReversed()) {
    for (const [name, collection] of collections) collectionsByName.set(name, collection)
  }
  return [...collectionsByName.values()]
    .filter((one) => one.members.length > 0 && isCallableCollection(one, caller, snapshot))
    .toSorted((one, other) => (one.name < other.name ? -1 : 1))
}

/**
 * `<handle>/<provider>/<model>`: goes to that owner's connections, and no others. A name that is no handle may be
 * another name of a provider.
 */
async function resolveHandle(
  id: string,
  handle: string,
  { snapshot, names, caller }: NameScope,
): Promise<{ kind: 'direct'; id: string; ownerId: string } | { kind: 'model'; id: string }> {
  const owner = await names.ownerOf(handle)
  if (!owner) {
    const providerKeyName = withProviderKey(id)
    if (providerKeyName && snapshot.providers.has(parseProvider(providerKeyName)))
      return { kind: 'model', id: providerKeyName }
    throw unknownModel(id)
  }
  checkOwner(owner, caller, id)
  const rest = id.slice(handle.length + 1)
  if (!rest.includes('/')) throw unknownModel(id)
  const ownerId = 'userId' in owner ? owner.userId : owner.organizationId
  return { kind: 'direct', id: rest, ownerId }
}

function checkOwner(owner: NameOwner, caller: RoutingCaller, id: string): void {
  if ('userId' in owner) {
    if (owner.userId === caller.userId) return
    throw new ApiError('model_access_denied', {
      param: 'model',
      message:
        'This handle belongs to another account, whose connections are not available to you.',
      details: { model: id },
    })
  }
  const isMember = caller.catalog.memberships.some(
    ({ organizationId, status }) => organizationId === owner.organizationId && status === 'active',
  )
  if (isMember) return
  throw new ApiError('organization_required', {
    param: 'model',
    message: 'Only active members of this organization can use its connections.',
  })
}
