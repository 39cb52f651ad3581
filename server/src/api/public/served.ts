import { LRUCache } from 'lru-cache'
import type { Model } from '../../catalog/model'

/** A model that an organization serves to its members, and how they pay for it. */
export interface ServedModel {
  model: Model
  mode: 'platform' | 'byok' | 'org_pays' | 'member_pays' | 'free'
}

const keepMs = 10_000
const mostKept = 200

/** What organizations serve, put together anew after ten seconds. */
export class Served {
  readonly #read: (organizationId: string) => Promise<readonly ServedModel[]>
  readonly #known = new LRUCache<string, Promise<readonly ServedModel[]>>({
    max: mostKept,
    ttl: keepMs,
  })

  constructor(read: (organizationId: string) => Promise<readonly ServedModel[]>) {
    this.#read = read
  }

  /** By id of the models. Rejects with `gateway_unavailable`. */
  of(organizationId: string): Promise<readonly ServedModel[]> {
    const known = this.#known.get(organizationId)
    if (known) return known
    const reading = this.#read(organizationId)
    this.#known.set(organizationId, reading)
    reading.catch(() => this.#known.delete(organizationId))
    return reading
  }
}
