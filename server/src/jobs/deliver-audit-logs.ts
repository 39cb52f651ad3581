import type { Logger } from 'pino'
import type { AuditDelivery } from '../audit-log/delivery/delivery'
import { Periodic } from '../platform/periodic'

const intervalMs = 1000
const measureEvery = 10

interface Delivering {
  delivery: AuditDelivery
  /** Reads the state of the queue for the metrics. */
  measure: () => Promise<void>
  log: Logger
}

/** The delivery of audit logs to their destinations. */
export function createAuditDeliveryJob({ delivery, measure, log }: Delivering): Periodic {
  let runs = 0
  return new Periodic({
    intervalMs,
    run: async () => {
      await delivery.startDue()
      if (runs++ % measureEvery === 0) await measure()
    },
    onError: (err) => log.warn({ err }, 'audit logs could not be delivered yet'),
  })
}
