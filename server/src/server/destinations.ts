import type { Logger } from 'pino'
import type { Storage } from './storage'
import { createEventDelivery } from '../jobs/deliver-events'
import { createDeliver } from '../notifications/deliver'
import { DeliveryQueue } from '../notifications/delivery-queue'
import type { Egress } from '../upstream/http/egress'

interface Delivering {
  storage: Storage
  egress: Pick<Egress, 'send'>
}

/** Creates the delivery of one event, which takes the guarded way out: each call has an owner. */
export const createDestinationDelivery = ({ storage, egress }: Delivering) =>
  createDeliver({
    db: storage.database.query,
    sealingKeys: storage.installation.sealingKeys,
    send: (call) => egress.send(call),
  })

/** Starts the job that delivers due events; `disposables` ends it. */
export function startEventDelivery(
  { log, ...ports }: Delivering & { log: Logger },
  disposables: AsyncDisposableStack,
): void {
  const queue = disposables.use(
    new DeliveryQueue({
      db: ports.storage.database.query,
      deliver: createDestinationDelivery(ports),
      onFailure: (err) => log.warn({ err }, 'a delivery could not be recorded; it is repeated'),
    }),
  )
  disposables.use(createEventDelivery({ queue, log }))
}
