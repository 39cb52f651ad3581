import { sql, type Kysely } from 'kysely'
import type { Collection, CollectionMember } from './collection'
import { Mappings } from './mapping'
import { DataLoader } from '../platform/data-loader'
import type { MaybePromise } from '../platform/maybe-promise'
import { SwrCache } from '../platform/swr-cache'
import type { Database } from '../platform/db/database'
import type { Schema } from '../platform/db/schema'

/** The owner of a handle or a slug. */
export type NameOwner = { userId: string } | { organizationId: string }

/** Collections by name. */
export type Collections = ReadonlyMap<string, Collection>

/** The queries of `AccountNames`. */
export interface NameReads {
  mappings: (userId: string) => Promise<Mappings>
  /** Reads the enabled collections of an account or of an organization. */
  collections: (ownerId: string) => Promise<Collections>
  /** Undefined for a name without an owner. */
  owner: (name: string) => Promise<NameOwner | undefined>
}

/**
 * Caches in memory the aliases of accounts and organizations for models; in the steady state it returns without a
 * promise. All methods throw or reject with `gateway_unavailable` where the database was needed and did not answer.
 */
export class AccountNames {
  readonly #mappings: SwrCache<Mappings>
  readonly #collections: SwrCache<Collections>
  readonly #owners: SwrCache<NameOwner | undefined>

  constructor({ mappings, collections, owner }: NameReads) {
    this.#mappings = new SwrCache({ lookUp: mappings, capacity: 100_000 })
    this.#collections = new SwrCache({ lookUp: collections, capacity: 50_000 })
    this.#owners = new SwrCache({
      lookUp: owner,
      capacity: 10_000,
      isMissing: (owner) => owner === undefined,
    })
  }

  mappingsOf(userId: string): MaybePromise<Mappings> {
    return this.#mappings.of(userId)
  }

  /** Returns the enabled collections of an account or of an organization. */
  async collectionsOf(ownerId: string): Promise<Collections> {
    return this.#collections.of(ownerId)
  }

  /** Returns the owner of a handle or slug. */
  async ownerOf(name: string): Promise<NameOwner | undefined> {
    return this.#owners.of(name)
  }

  /** Invalidates the entries of an account or organization that was changed. */
  invalidate(ownerId: string): void {
    this.#mappings.invalidate(ownerId)
    this.#collections.invalidate(ownerId)
  }

  /** The number of cached entries. */
  get size(): number {
    return this.#mappings.size + this.#collections.size + this.#owners.size
  }

  /** Evicts a handle or slug that was taken, changed or given up. */
  invalidateName(name: string): void {
    this.#owners.invalidate(name)
  }

  /** Invalidates all entries, as notifications may have been missed: each is looked up again before it is used. */
  invalidateAll(): void {
    for (const lookUps of [this.#mappings, this.#collections, this.#owners]) lookUps.invalidateAll()
  }
}

/** Shared by all accounts that have named nothing. */
const noMappings = new Mappings([])
const noCollections: Collections = new Map()

/** Reads from the database. */
export function createNameReads({
  query: db,
  liveness,
}: Pick<Database, 'query' | 'liveness'>): NameReads {
  const mappings = new DataLoader<string, Mappings>({
    answer: async (userIds) => {
      const read = await readMappings(db, userIds)
      return userIds.map((id) => read.get(id) ?? noMappings)
    },
    timeoutMs: () => liveness.maxLookUpMs,
  })
  return {
    mappings: (userId) => liveness.lookUp(mappings.load(userId)),
    collections: async (ownerId) => {
      const collections = await liveness.lookUp(readCollections(db, ownerId))
      if (collections.length === 0) return noCollections
      return new Map(collections.map((collection) => [collection.name, collection]))
    },
    owner: (name) => liveness.lookUp(readOwner(db, name)),
  }
}

/** Reads the mappings of some accounts; accounts without any are absent. */
async function readMappings(
  db: Kysely<Schema>,
  userIds: readonly string[],
): Promise<Map<string, Mappings>> {
  const rows = await db
    .selectFrom('model_mapping')
    .select(['user_id', 'id', 'source_pattern as source', 'target_model as target', 'priority'])
    .where(sql<boolean>`user_id = any(${userIds}::text[])`)
    .where('enabled', '=', true)
    .execute()
  const byUser = Map.groupBy(rows, ({ user_id }) => user_id)
  return new Map(Array.from(byUser, ([userId, own]) => [userId, new Mappings(own)]))
}

async function readOwner(db: Kysely<Schema>, name: string): Promise<NameOwner | undefined> {
  const row = await db
    .selectFrom('public_name')
    .select(['user_id', 'organization_id'])
    .where('name', '=', name)
    .executeTakeFirst()
  if (row?.user_id) return { userId: row.user_id }
  return row?.organization_id ? { organizationId: row.organization_id } : undefined
}

/** Reads the enabled collections of an owner, with their enabled members; of the system for null. */
export async function readCollections(
  db: Kysely<Schema>,
  ownerId: string | null,
): Promise<Collection[]> {
  const rows = await db
    .selectFrom('model_collection')
    .select(['id', 'name', 'scope', 'routing_strategy as strategy', 'created_at'])
    .where('enabled', '=', true)
    .where((is) =>
      ownerId === null
        ? is('scope', '=', 'system')
        : is.or([
            is('user_id', '=', ownerId),
            is(
              'organization_id',
              'in',
              is
                .selectFrom('organization')
                .select('id')
                .where('id', '=', ownerId)
                .where('status', '=', 'active'),
            ),
          ]),
    )
    .execute()
  if (rows.length === 0) return []
  const ids = rows.map(({ id }) => id)
  const members = await db
    .selectFrom('model_collection_member')
    .select(['collection_id', 'model_id as modelId', 'priority', 'weight'])
    .where('collection_id', 'in', ids)
    .where('enabled', '=', true)
    .orderBy('priority')
    .orderBy('position')
    .execute()
  const byCollection = Map.groupBy(members, (member) => member.collection_id)
  return rows.map(({ created_at: createdAt, ...row }) => ({
    ...row,
    createdAt: Math.floor(createdAt.getTime() / 1000),
    members: (byCollection.get(row.id) ?? []).map(toMember),
  }))
}

const toMember = ({ modelId, priority, weight }: CollectionMember): CollectionMember => ({
  modelId,
  priority,
  weight,
})
