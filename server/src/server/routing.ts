import type { Logger } from 'pino'
import type { Storage } from './storage'
import { AccountCatalogs, type AccountCatalog } from '../catalog/account-catalog'
import { AccountNames, createNameReads } from '../catalog/account-names'
import { createAccountReads } from '../catalog/account-reads'
import type { Catalog } from '../catalog/catalog'
import { Mappings } from '../catalog/mapping'
import { categories } from '../catalog/model'
import type { OwnedConnection } from '../catalog/offer'
import type { Snapshot } from '../catalog/snapshot'
import type { Config } from '../platform/config/config'
import type { Subscriptions } from '../platform/db/listener'
import { ApiError } from '../errors'
import { findModel, type RoutingCaller, type Open } from '../routing/candidate'
import { LocalRotation, type CollectionRotation } from '../routing/collection-rotation'
import { MemberStats } from '../routing/member-stats'
import { findCollections, resolveName } from '../routing/resolve-name'
import type { AccessLists } from '../platform/access-lists'
import { findOfferedModels, findServedModels } from '../routing/offered-models'
import { lookUpRoute, previewRoute } from '../routing/preview-route'
import type { Routing } from '../routing/resolution'
import type { ProviderLists } from '../upstream/provider-lists'
import { isModelName, splitModelId } from '../wire/model-id'

interface Dependencies {
  config: Config
  settings: { readonly current: Open }
  storage: Storage
  catalog: Catalog
  log: Logger
  providerLists: ProviderLists
}

/** Creates routing: the cached names and connections of accounts, and the resolution of names to candidates. */
export async function createRouting(dependencies: Dependencies, disposables: AsyncDisposableStack) {
  const { storage, catalog, log, providerLists } = dependencies
  const accounts = new AccountCatalogs(
    createAccountReads(storage.database, {
      sealingKeys: storage.installation.sealingKeys,
      providers: () => catalog.snapshot.providers,
      onDamaged: (what, err) => log.error({ err }, `a ${what} is invalid and was skipped`),
    }),
  )
  const names = new AccountNames(createNameReads(storage.database))
  const rotation = await createRotation(dependencies, disposables)
  const stats = new MemberStats()
  const routing = { accounts, names, stats, rotation, random: Math.random, providerLists }
  const subscriptions: Subscriptions = {
    tollgate_name: (name) => names.invalidateName(name),
  }
  return {
    routing,
    subscriptions,
    /** Invalidates the cache of an account or an organization after a change. */
    invalidate: (ownerId: string) => {
      accounts.invalidate(ownerId)
      names.invalidate(ownerId)
    },
    onGap: () => {
      accounts.invalidateAll()
      names.invalidateAll()
    },
    lookUps: lookUpsOf(dependencies, routing),
  }
}

type OpenRouting = Routing & { rotation: CollectionRotation }

const callerIn =
  ({ accounts }: Routing) =>
  async (userId: string, accessLists?: AccessLists | null): Promise<RoutingCaller> => ({
    userId,
    accountId: userId,
    catalog: await accounts.of(userId),
    accessLists,
  })

const servedIn =
  ({ catalog, settings }: Dependencies, { accounts }: Routing) =>
  (organizationId: string, by: (connection: OwnedConnection) => boolean) => {
    const { snapshot } = catalog
    return findServedModels(organizationId, { snapshot, accounts, open: settings.current, by })
  }

/** Returns the routing lookups of the account endpoints. */
const lookUpsOf = (dependencies: Dependencies, routing: OpenRouting) => {
  const { catalog, settings } = dependencies
  const { accounts, names } = routing
  const callerOf = callerIn(routing)
  const contextOf = async (userId: string, accessLists?: AccessLists | null) => ({
    snapshot: catalog.snapshot,
    caller: await callerOf(userId, accessLists),
    open: settings.current,
  })
  return {
    /** Returns the collections that an account, or a key of it with lists, may call. */
    collectionsFor: async (userId: string, accessLists?: AccessLists | null) => {
      const { snapshot } = catalog
      return findCollections({ snapshot, names, caller: await callerOf(userId, accessLists) })
    },
    /** Rejects with `model_not_found` for a name that is unknown to an account. */
    checkName: async (userId: string, name: string) => {
      const { snapshot } = catalog
      const caller = await callerOf(userId)
      try {
        const meaning = await resolveName(name, { snapshot, names, caller, mappings: unmapped })
        if (meaning.kind === 'collection') return
        findModel(
          { snapshot, catalog: caller.catalog, open: settings.current },
          meaning.id,
          categories,
        )
      } catch (thrown) {
        // The name belongs to another owner, which may later grant the account access.
        if (!(thrown instanceof ApiError) || thrown.status !== 403) throw thrown
      }
    },
    /** Returns a predicate for the models that exist for an account, or publicly. */
    knownModelsOf: async (userId: string | undefined) => {
      const own = userId === undefined ? undefined : await accounts.of(userId)
      return isKnown(catalog.snapshot, own)
    },
    modelsFor: async (userId: string, accessLists?: AccessLists | null) =>
      findOfferedModels(await contextOf(userId, accessLists), routing),
    servedBy: servedIn(dependencies, routing),
    /** Previews the resolution of a name, with `rule` before the account's own mappings. */
    preview: async (
      userId: string,
      name: string,
      rule: { source: string; target: string } | undefined,
    ) => {
      const first = rule && new Mappings([{ id: '', priority: 1, ...rule }])
      return previewRoute({ name, first }, await contextOf(userId), routing)
    },
    /** Rejects as an account's chat for a name would, restricted to one connection if that is given. */
    checkChat: async (userId: string, name: string, only: string | undefined) => {
      await lookUpRoute({ name, kinds: ['chat'] }, { ...(await contextOf(userId)), only }, routing)
    },
    invalidate: (ownerId: string) => {
      accounts.invalidate(ownerId)
      names.invalidate(ownerId)
    },
    invalidateName: (name: string) => names.invalidateName(name),
  }
}

const isKnown =
  ({ models }: Snapshot, own: AccountCatalog | undefined) =>
  (id: string): boolean => {
    const listed = models.get(id)
    if (listed || !own || !isModelName(id)) return listed?.enabled === true
    const { provider, name } = splitModelId(id)
    return own.find(provider, name) !== undefined
  }

export type RoutingLookUps = ReturnType<typeof lookUpsOf>

const unmapped = new Mappings([])

/** Creates load balancing of collections, for this process or for all that share a Redis. */
async function createRotation(
  { config: { redisUrl }, log }: Dependencies,
  disposables: AsyncDisposableStack,
): Promise<CollectionRotation> {
  if (redisUrl === undefined) return new LocalRotation()
  const { SharedRotation } = await import('../routing/shared-rotation')
  const onError = (err: Error) =>
    log.warn({ err }, 'Redis is unavailable: this node uses its own round-robin counters')
  return disposables.use(new SharedRotation({ url: redisUrl, onError }))
}
