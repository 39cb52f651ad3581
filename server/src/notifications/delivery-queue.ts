import { sql, type Kysely } from 'kysely'
import type { Deliver, TakenDelivery } from './deliver'
import type { Schema } from '../platform/db/schema'

interface Options {
  db: Kysely<Schema>
  deliver: Deliver
  onFailure: (error: unknown) => void
}

const batchSize = 8
const maxBatches = 50

/**
 * Delivers the events that are due. Any number of nodes may run one: taking a delivery postpones its next attempt by
 * more than an attempt lasts, so that another node takes it only when this one ended before the record.
 */
export class DeliveryQueue implements AsyncDisposable {
  readonly #options: Options
  readonly #ending = new AbortController()
  #running: Promise<void> | undefined

  constructor(options: Options) {
    this.#options = options
  }

  /** Makes an attempt for each delivery that is due. Rejects when the database does not answer. */
  deliverDue(): Promise<void> {
    this.#running ??= this.#run().finally(() => (this.#running = undefined))
    return this.#running
  }

  async #run(): Promise<void> {
    const { db, deliver, onFailure } = this.#options
    for (let turn = 0; turn < maxBatches && !this.#ending.signal.aborted; turn++) {
      const batch = await take(db)
      await Promise.all(
        batch.map((delivery) => deliver(delivery, this.#ending.signal).catch(onFailure)),
      )
      if (batch.length < batchSize) return
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort(new Error('the server is stopping'))
    await this.#running?.catch(() => undefined)
  }
}

interface TakenRow extends Omit<TakenDelivery, 'destination'> {
  destination_id: string
  user_id: string
  name: string
  kind: TakenDelivery['destination']['kind']
  secret: Buffer
}

async function take(db: Kysely<Schema>): Promise<TakenDelivery[]> {
  const { rows } = await sql<TakenRow>`
    update notification_delivery as delivery set
      attempts = attempts + 1,
      next_attempt_at = now() + interval '60 seconds'
    from notification_destination as destination
    where destination.id = delivery.destination_id and delivery.id in (
      select due.id from notification_delivery as due
        join notification_destination as open on open.id = due.destination_id and open.enabled
      where due.status = 'waiting' and due.next_attempt_at <= now()
      order by due.next_attempt_at limit ${batchSize} for update of due skip locked
    )
    returning delivery.id, event, payload, attempts, expires_at,
      destination_id, user_id, name, kind, secret`.execute(db)
  return rows.map(({ destination_id: id, user_id, name, kind, secret, ...delivery }) => ({
    ...delivery,
    destination: { id, user_id, name, kind, secret },
  }))
}
