import { LocalRotation, type CollectionRotation } from './collection-rotation'
import { Redis, toScript } from '../platform/redis'

const lifeSeconds = 30 * 86_400

/** KEYS: a counter. ARGV: its increment, its lifetime. Answers the value before. */
const advanceScript = toScript(`
local turn = redis.call('INCRBY', KEYS[1], ARGV[1])
redis.call('EXPIRE', KEYS[1], ARGV[2])
return turn - ARGV[1]`)

const probe = (redis: Redis) => redis.evaluate(advanceScript, ['tollgate:turn:probe'], [0, 60])

interface Options {
  url: string
  onError: (error: Error) => void
}

/** One counter for all nodes, in Redis; while that is away each node takes turns by itself. */
export class SharedRotation implements CollectionRotation, Disposable {
  readonly #redis: Redis
  readonly #own = new LocalRotation()

  constructor({ url, onError }: Options) {
    this.#redis = new Redis(url, { probe, onError, onBack: () => undefined })
  }

  take(collectionId: string): Promise<number> {
    return this.#advance(collectionId, 1)
  }

  peek(collectionId: string): Promise<number> {
    return this.#advance(collectionId, 0)
  }

  async #advance(collectionId: string, step: 0 | 1): Promise<number> {
    const own = step === 1 ? this.#own.take(collectionId) : this.#own.peek(collectionId)
    if (this.#redis.isAway) return own
    const keys = [`tollgate:turn:${collectionId}`]
    return this.#redis.run(advanceScript, keys, [step, lifeSeconds]).then(Number, () => own)
  }

  [Symbol.dispose](): void {
    this.#redis[Symbol.dispose]()
  }
}
