import type { Logger } from 'pino'
import type { GatewayServices } from './gateway'
import type { Storage } from './storage'
import type { PaymentEvents } from '../api/public/payment-events/routes'
import { createPaymentComparison } from '../jobs/compare-payments'
import { createInvoices } from '../jobs/issue-invoices'
import { createAutomaticRecharge } from '../jobs/recharge-accounts'
import type { Config } from '../platform/config/config'
import type { Processor } from '../payments/processor'
import type { LiveSettings } from '../platform/settings/live-settings'
import { receive, type BookingPorts } from '../payments/receive'
import { keepReceipt } from '../payments/receipts'
import { keepMethod } from '../payments/saved-method'
import { keepTax } from '../payments/taxes'
import { openStripe, createStripeEventReader } from '../payments/stripe'

interface Dependencies {
  config: Config
  settings: Pick<LiveSettings, 'current'>
  storage: Storage
  /** The public address of this service, empty until it listens. */
  address: () => string
  log: Logger
}

/** The payment services of this installation. */
export interface PaymentServices {
  /** Undefined if payments are disabled. */
  processor: Processor | undefined
  events: PaymentEvents
}

const clock = {
  pause: (ms: number) => Bun.sleep(ms),
  now: () => performance.now(),
}

/** Creates the payment processor, and automatic recharges; `disposables` ends these. */
export async function createPayments(
  dependencies: Dependencies,
  { onCreditAdded }: Pick<GatewayServices, 'onCreditAdded'>,
  disposables: AsyncDisposableStack,
): Promise<PaymentServices> {
  const { config, settings, storage, address, log } = dependencies
  const { secretKey, webhookSecrets, apiBase } = config.payments
  const processor = secretKey === undefined ? undefined : await openStripe(secretKey, apiBase)
  const ports: BookingPorts = {
    db: storage.database.query,
    onCreditAdded,
    onMismatch: (message, subject) => log.error(subject, `a payment was not booked: ${message}`),
  }
  const invoices = createInvoices({
    db: ports.db,
    intervalMs: config.payments.invoiceEveryMs,
    settings: () => settings.current.invoices,
    address,
    log,
  })
  disposables.defer(() => invoices.stop())
  if (processor) {
    const { rechargeEveryMs, compareEveryMs } = config.payments
    const jobs = [
      createAutomaticRecharge({ ...ports, processor, intervalMs: rechargeEveryMs, log }),
      createPaymentComparison({ db: ports.db, processor, everyMs: compareEveryMs, log }),
    ]
    for (const job of jobs) disposables.defer(() => job.stop())
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
async function keep(
  paymentId: string,
  { db, processor, log }: BookingPorts & { processor: Processor; log: Logger },
): Promise<void> {
  try {
    await keepMethod(db, processor, paymentId)
    await keepTax(db, processor, paymentId)
    await keepReceipt(db, processor, paymentId)
  } catch (err) {
    log.warn({ err, paymentId }, 'a payment method, tax or receipt could not be read yet')
  }
}
