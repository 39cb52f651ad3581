import type { Logger } from 'pino'
import { keepComparing } from './compare-payments'
import type { OpenedGateway } from './gateway'
import type { Storage } from './storage'
import type { PaymentEvents } from '../api/public/payment-events/routes'
import type { Config } from '../platform/config/config'
import { runExclusively } from '../platform/db/advisory-lock'
import type { Processor } from '../payments/processor'
import { receive, type BookingPorts } from '../payments/receive'
import { runPayments } from '../payments/recharge'
import { keepMethod } from '../payments/saved-method'
import { openStripe, createStripeEventReader } from '../payments/stripe'

interface Parts {
  config: Config
  storage: Storage
  log: Logger
}

/** The payment services of this installation. */
export interface OpenedPayments {
  /** Undefined if payments are disabled. */
  processor: Processor | undefined
  events: PaymentEvents
}

const clock = {
  pause: (ms: number) => Bun.sleep(ms),
  now: () => performance.now(),
}

/** Opens the payment processor, and automatic recharges; `stack` ends these. */
export async function openPayments(
  parts: Parts,
  { creditCame }: Pick<OpenedGateway, 'creditCame'>,
  stack: AsyncDisposableStack,
): Promise<OpenedPayments> {
  const { config, storage, log } = parts
  const { secretKey, webhookSecrets, apiBase } = config.payments
  const processor = secretKey === undefined ? undefined : await openStripe(secretKey, apiBase)
  const ports: BookingPorts = {
    db: storage.database.query,
    creditCame,
    onMismatch: (words, subject) => log.error(subject, `a payment was not booked: ${words}`),
  }
  if (processor) {
    stack.use(keepCharging(parts, { ...ports, processor }))
    stack.use(keepComparing(parts, processor))
  }
  if (webhookSecrets === undefined) return { processor, events: undefined }
  const reader = createStripeEventReader(config.payments)
  const onPaid = (paymentId: string) => {
    if (processor) void keep(paymentId, { ...ports, processor, log })
  }
  const receiving = { ...ports, ...clock, reader, onPaid }
  return { processor, events: (body, signature) => receive(receiving, body, signature) }
}

/** Runs beside the answer to an event; the job retries after a failure. */
const keep = (
  paymentId: string,
  { db, processor, log }: BookingPorts & { processor: Processor; log: Logger },
) =>
  keepMethod(db, processor, paymentId).catch((err: unknown) =>
    log.warn({ err, paymentId }, 'a payment method could not be saved yet'),
  )

/** Runs automatic recharges, on one node at a time. */
function keepCharging(
  { config, log }: Parts,
  ports: BookingPorts & { processor: Processor },
): Disposable {
  let isRunning = false
  let isClosed = false
  const onError = (err: unknown, paymentId: string) =>
    log.warn({ err, paymentId }, 'a payment could not be finished yet; trying again')
  const timer = setInterval(() => {
    if (isRunning) return
    isRunning = true
    void runExclusively(ports.db, 'payments', () => runPayments({ ...ports, onError }))
      .catch((err: unknown) => {
        // Errors of a query that a shutdown interrupts are not logged.
        if (!isClosed) log.error({ err }, 'automatic recharges could not run')
      })
      .finally(() => (isRunning = false))
  }, config.payments.rechargeEveryMs)
  timer.unref()
  return {
    [Symbol.dispose]() {
      isClosed = true
      clearInterval(timer)
    },
  }
}
