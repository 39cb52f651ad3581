import type { Logger } from 'pino'
import type { DeliveryQueue } from '../notifications/delivery-queue'
import { Periodic } from '../platform/periodic'

const intervalMs = 1000

interface EventDelivery {
  queue: DeliveryQueue
  log: Logger
}

/** The delivery of due events to destinations of accounts. */
export const createEventDelivery = ({ queue, log }: EventDelivery): Periodic =>
  new Periodic({
    intervalMs,
    run: () => queue.startDue(),
    onError: (err) => log.warn({ err }, 'due deliveries could not be read'),
  })
