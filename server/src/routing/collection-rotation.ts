import { LRUCache } from 'lru-cache'
import { limitEntries } from '../platform/cache-limit'

/** The rotation in collections whose members take turns. */
export interface CollectionRotation {
  /** Takes the number of this request among those of a collection, from 0. Never rejects. */
  take: (collectionId: string) => number | Promise<number>
  /** Reads that number without taking it: the next request has it too. */
  peek: (collectionId: string) => number | Promise<number>
}

/** Collections that take turns at the same time; those used longest ago begin anew. */
const maxCollections = 10_000

/** Turns of this process. */
export class LocalRotation implements CollectionRotation {
  readonly #next = new LRUCache<string, number>(limitEntries(maxCollections))

  take(collectionId: string): number {
    const index = this.peek(collectionId)
    this.#next.set(collectionId, index + 1)
    return index
  }

  peek(collectionId: string): number {
    return this.#next.get(collectionId) ?? 0
  }
}
