import { sql, type Kysely } from 'kysely'
import type { Deliver, TakenDelivery } from './deliver'
import { leaseEnd } from './events'
import type { Schema } from '../platform/db/schema'

interface Options {
  db: Kysely<Schema>
  deliver: Deliver
  onFailure: (error: unknown) => void
}

/** The most attempts at once. */
const maxRunning = 32
/** The time that shutdown gives to running attempts: what is interrupted is sent again. */
const maxStopMs = 5000

/**
 * Delivers the events that are due, one after another for each destination, so that a slow one delays no other. Any
 * number of nodes may run one: an attempt has a lease, and another node repeats it only after the lease has ended
 * without a record.
 */
export class DeliveryQueue implements AsyncDisposable {
  readonly #options: Options
  readonly #ending = new AbortController()
  readonly #running = new Set<Promise<unknown>>()
  #isClosing = false

  constructor(options: Options) {
    this.#options = options
  }

  /** Starts an attempt for each destination with a due delivery. Rejects when the database does not answer. */
  async startDue(): Promise<void> {
    const { db, deliver, onFailure } = this.#options
    const free = maxRunning - this.#running.size
    if (this.#isClosing || free <= 0) return
    for (const delivery of await take(db, free)) {
      const attempt = deliver(delivery, this.#ending.signal)
        .catch(onFailure)
        .finally(() => this.#running.delete(attempt))
      this.#running.add(attempt)
    }
  }

  /** Resolves once the running attempts have ended. */
  async waitForRunning(): Promise<void> {
    await Promise.all(this.#running)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosing = true
    const ended = this.waitForRunning()
    await Promise.race([ended, Bun.sleep(maxStopMs)])
    this.#ending.abort(new Error('the server is stopping'))
    await ended
  }
}

interface TakenRow extends Omit<TakenDelivery, 'destination'> {
  destination_id: string
  user_id: string | null
  organization_id: string | null
  name: string
  kind: TakenDelivery['destination']['kind']
  secret: Buffer
}

/** Leases the first due delivery of each destination that has none running. */
async function take(db: Kysely<Schema>, limit: number): Promise<TakenDelivery[]> {
  const { rows } = await sql<TakenRow>`
    update notification_delivery as delivery set
      attempts = attempts + 1,
      leased_until = ${leaseEnd}
    from notification_destination as destination
    where destination.id = delivery.destination_id and delivery.id in (
      select due.id from notification_delivery as due
        join notification_destination as open on open.id = due.destination_id and open.enabled
      where due.status = 'waiting' and due.next_attempt_at <= now()
        and coalesce(due.leased_until, '-infinity') <= now()
        and not exists (
          select 1 from notification_delivery as earlier
          where earlier.destination_id = due.destination_id and earlier.status = 'waiting'
            and earlier.next_attempt_at <= now()
            and (earlier.next_attempt_at, earlier.id) < (due.next_attempt_at, due.id)
        )
      order by due.next_attempt_at limit ${limit} for update of due skip locked
    )
    returning delivery.id, event, payload, attempts, expires_at,
      destination_id, user_id, organization_id, name, kind, secret`.execute(db)
  return rows.map(
    ({ destination_id: id, user_id, organization_id, name, kind, secret, ...delivery }) => ({
      ...delivery,
      destination: { id, user_id, organization_id, name, kind, secret },
    }),
  )
}
