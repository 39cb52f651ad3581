import type { Kysely } from 'kysely'
import { LRUCache } from 'lru-cache'
import type { Model } from '../../catalog/model'
import type { OwnedConnection } from '../../catalog/offer'
import type { Schema } from '../../platform/db/schema'
import { limitEntries } from '../../platform/cache-limit'

/** A model that an organization serves to its members, with its billing mode. */
export interface ServedModel {
  model: Model
  mode: 'platform' | 'house' | 'byok' | 'org_pays' | 'member_pays' | 'free'
}

/** An organization, and its public gateways. */
interface Serving {
  id: string
  gateways: readonly string[]
}

type By = (connection: OwnedConnection) => boolean

/** Lists the models of some connections of an organization. Rejects with `gateway_unavailable`. */
export type ServedBy = (organizationId: string, by: By) => Promise<readonly ServedModel[]>

const keepMs = 10_000
const maxStored = 1000

const isCloud: By = ({ gatewayId }) => gatewayId === null

/**
 * Caches the models that public organizations serve for ten seconds, by id of the models, without those of private
 * gateways. All reject with `gateway_unavailable`.
 */
export class PublicServed {
  readonly #db: Kysely<Schema>
  readonly #servedBy: ServedBy
  readonly #cache = new LRUCache<string, Promise<readonly ServedModel[]>>({
    ...limitEntries(maxStored),
    ttl: keepMs,
  })

  constructor(db: Kysely<Schema>, servedBy: ServedBy) {
    this.#db = db
    this.#servedBy = servedBy
  }

  /** Returns the models of all public connections of an organization. */
  of(organization: Serving): Promise<readonly ServedModel[]> {
    return this.#cached(organization.id, () => this.#readAll(organization))
  }

  /** Returns the models of the connections that Tollgate calls directly. */
  ofCloud(organizationId: string): Promise<readonly ServedModel[]> {
    return this.#cached(`cloud ${organizationId}`, () => this.#servedBy(organizationId, isCloud))
  }

  /** Returns the models that a gateway announced, as far as connections of its organization lead to it. */
  ofGateway(organizationId: string, id: string): Promise<readonly ServedModel[]> {
    return this.#cached(id, () => this.#readGateway(organizationId, id))
  }

  async #readAll({ id: organizationId, gateways }: Serving): Promise<readonly ServedModel[]> {
    if (gateways.length === 0) return this.ofCloud(organizationId)
    const lists = await Promise.all([
      this.ofCloud(organizationId),
      ...gateways.map((id) => this.ofGateway(organizationId, id)),
    ])
    const publicIds = new Set(lists.flat().map(({ model }) => model.id))
    const isPublic = (connection: OwnedConnection) =>
      isCloud(connection) || gateways.includes(connection.gatewayId ?? '')
    // Billing depends on the first candidate of all connections, so all of them are looked up again.
    const all = await this.#servedBy(organizationId, isPublic)
    return all.filter(({ model }) => publicIds.has(model.id))
  }

  async #readGateway(organizationId: string, id: string): Promise<readonly ServedModel[]> {
    const gateway = await this.#db
      .selectFrom('gateway')
      .select('models')
      .where('id', '=', id)
      .executeTakeFirst()
    const announced = new Set(gateway?.models.map(({ provider, name }) => `${provider}/${name}`))
    const served = await this.#servedBy(organizationId, ({ gatewayId }) => gatewayId === id)
    return served.filter(({ model }) => announced.has(`${model.provider}/${model.upstreamModel}`))
  }

  #cached(key: string, read: () => Promise<readonly ServedModel[]>) {
    const cached = this.#cache.get(key)
    if (cached) return cached
    const reading = read()
    this.#cache.set(key, reading)
    reading.catch(() => this.#cache.delete(key))
    return reading
  }
}
