import type { Kysely } from 'kysely'
import { LRUCache } from 'lru-cache'
import { isId } from '../platform/db/id'
import type { Schema } from '../platform/db/schema'
import { limitEntries } from '../platform/cache-limit'

interface Options {
  db: Kysely<Schema>
  onError: (error: unknown) => void
  /** Monotonic milliseconds. */
  now?: () => number
}

/** The outcome of a request for its connection. */
interface ConnectionState {
  id: string
  /** The stored state. */
  isFailing: boolean
}

/** The minimum between two writes: two models of which one is refused would write the row with every request. */
const minIntervalMs = 5000
const maxRemembered = 10_000
const maxMessageLength = 300

/**
 * Records, outside the request path, that a provider rejects a connection's credential or that its account there has no
 * credit, and that it works again. A rejected connection comes after its owner's others, until it works.
 */
export class ConnectionHealth {
  readonly #options: Options
  readonly #now: () => number
  readonly #writtenAtMs = new LRUCache<string, number>(limitEntries(maxRemembered))

  constructor(options: Options) {
    this.#options = options
    this.#now = options.now ?? (() => performance.now())
  }

  /** Records that the provider rejected the credential or that its account has no credit, with the provider's message. */
  recordRefusal({ id, isFailing }: ConnectionState, message: string): void {
    if (!isFailing) this.#write(id, { from: 'active', to: 'error', message })
  }

  /** The provider answered. */
  recordAnswer({ id, isFailing }: ConnectionState): void {
    if (isFailing) this.#write(id, { from: 'error', to: 'active', message: null })
  }

  #write(id: string, { from, to, message }: Change): void {
    const nowMs = this.#now()
    const lastMs = this.#writtenAtMs.get(id) ?? -Infinity
    // Connections of the environment have no row.
    if (nowMs - lastMs < minIntervalMs || !isId('conn', id)) return
    this.#writtenAtMs.set(id, nowMs)
    this.#options.db
      .updateTable('connection')
      .set({ status: to, last_error: message && message.slice(0, maxMessageLength) })
      .where('id', '=', id)
      .where('status', '=', from)
      .execute()
      .catch(this.#options.onError)
  }
}

interface Change {
  from: 'active' | 'error'
  to: 'active' | 'error'
  message: string | null
}
