import { LRUCache } from 'lru-cache'
import { Redis, toScript } from '../platform/redis'

/** The rotation in collections whose members take turns. */
export interface CollectionTurns {
  /** Takes the number of this request among those of a collection, from 0. Never rejects. */
  take: (collectionId: string) => number | Promise<number>
  /** Reads that number without taking it: the next request has it too. */
  peek: (collectionId: string) => number | Promise<number>
}

/** Collections that take turns at the same time; those used longest ago begin anew. */
const mostCollections = 10_000

/** Turns of this process. */
export class LocalTurns implements CollectionTurns {
  readonly #next = new LRUCache<string, number>({ max: mostCollections })

  take(collectionId: string): number {
    const turn = this.peek(collectionId)
    this.#next.set(collectionId, turn + 1)
    return turn
  }

  peek(collectionId: string): number {
    return this.#next.get(collectionId) ?? 0
  }
}

const keptSeconds = 30 * 86_400

/** KEYS: a counter. ARGV: its increment, its lifetime. Answers the value before. */
const turnScript = toScript(`
local turn = redis.call('INCRBY', KEYS[1], ARGV[1])
redis.call('EXPIRE', KEYS[1], ARGV[2])
return turn - ARGV[1]`)

const probe = (redis: Redis) => redis.evaluate(turnScript, ['tollgate:turn:probe'], [0, 60])

interface Options {
  url: string
  onError: (error: Error) => void
}

/** One counter for all nodes, in Redis; while that is away each node takes turns by itself. */
export class SharedTurns implements CollectionTurns, Disposable {
  readonly #redis: Redis
  readonly #own = new LocalTurns()

  constructor({ url, onError }: Options) {
    this.#redis = new Redis(url, { probe, onError, onBack: () => undefined })
  }

  take(collectionId: string): Promise<number> {
    return this.#ask(collectionId, 1)
  }

  peek(collectionId: string): Promise<number> {
    return this.#ask(collectionId, 0)
  }

  async #ask(collectionId: string, step: 0 | 1): Promise<number> {
    const own = step === 1 ? this.#own.take(collectionId) : this.#own.peek(collectionId)
    if (this.#redis.isAway) return own
    const keys = [`tollgate:turn:${collectionId}`]
    return this.#redis.run(turnScript, keys, [step, keptSeconds]).then(Number, () => own)
  }

  [Symbol.dispose](): void {
    this.#redis[Symbol.dispose]()
  }
}
