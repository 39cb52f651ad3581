import type { Logger } from 'pino'
import type { Processor } from '../payments/processor'
import type { BookingPorts } from '../payments/receive'
import { runPayments } from '../payments/recharge'
import { runExclusively } from '../platform/db/advisory-lock'
import { Periodic } from '../platform/periodic'

interface Dependencies extends BookingPorts {
  processor: Processor
  intervalMs: number
  log: Logger
}

/** The automatic recharge of accounts, on one node at a time; it also completes payments that were interrupted. */
export function createAutomaticRecharge({ intervalMs, log, ...ports }: Dependencies): Periodic {
  const onError = (err: unknown, paymentId: string) =>
    log.warn({ err, paymentId }, 'a payment could not be completed yet; retrying')
  return new Periodic({
    intervalMs,
    run: () => runExclusively(ports.db, 'payments', () => runPayments({ ...ports, onError })),
    onError: (err) => log.error({ err }, 'automatic recharges could not run'),
  })
}
