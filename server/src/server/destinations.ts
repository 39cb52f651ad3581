import type { Logger } from 'pino'
import type { Storage } from './storage'
import { createOrganizationDestinations } from '../api/account/notification-destinations/organization-store'
import { createDestinationStore } from '../api/account/notification-destinations/store'
import { createEventDelivery } from '../jobs/deliver-events'
import { createDeliver } from '../notifications/deliver'
import { DeliveryQueue } from '../notifications/delivery-queue'
import type { Egress } from '../upstream/http/egress'
import type { GuardedEgress } from '../upstream/http/guarded-egress'

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

/** Creates the stores of destinations of accounts, and of organizations. */
export function createDestinationStores({
  guarded,
  ...delivering
}: Delivering & { guarded: Pick<GuardedEgress, 'checkCall'> }) {
  const { database, installation } = delivering.storage
  const destinations = createDestinationStore({
    db: database.query,
    sealingKeys: installation.sealingKeys,
    checkAddress: (address, owner) => guarded.checkCall(address, owner),
    deliver: createDestinationDelivery(delivering),
  })
  return {
    destinations,
    organizationDestinations: createOrganizationDestinations(database.query, destinations),
  }
}

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
