import type { Kysely } from 'kysely'
import type { Logger } from 'pino'
import { comparePayments } from '../payments/comparison'
import { nameOf } from '../payments/differences'
import { formatFinding } from '../payments/notify-payer'
import type { Processor } from '../payments/processor'
import type { Schema } from '../platform/db/schema'
import { Periodic } from '../platform/periodic'

/** The maximum interval between checks whether a comparison is due. */
const maxIntervalMs = 600_000

interface Dependencies {
  db: Kysely<Schema>
  processor: Processor
  /** The interval of comparisons, over all nodes together. */
  everyMs: number
  log: Logger
}

/** The comparison of payments with the processor's lists, once a day on one node; it logs the differences. */
export function createPaymentComparison(dependencies: Dependencies): Periodic {
  const { db, processor, everyMs, log } = dependencies
  return new Periodic({
    intervalMs: Math.min(everyMs, maxIntervalMs),
    run: async () => {
      const options = { db, processor, everyMs, nowMs: () => performance.now() }
      const comparison = await comparePayments(options)
      if (!comparison) return
      for (const difference of comparison.found) logDifference(difference, log)
      if (!comparison.isComplete) {
        log.warn('there were more payments than could be compared in time; some were left out')
      }
    },
    onError: (err) => log.warn({ err }, 'payments could not be compared; retrying in an hour'),
  })
}

type Comparison = NonNullable<Awaited<ReturnType<typeof comparePayments>>>

function logDifference(difference: Comparison['found'][number], log: Logger): void {
  const { paymentRef, kind, claimed, booked } = difference
  // The log is JSON, which has no bigint.
  const amounts = { claimed: String(claimed), booked: String(booked) }
  const subject = { paymentRef, kind, difference: nameOf(difference), ...amounts }
  log.error(subject, `the ledger differs from the payment processor: ${formatFinding(difference)}`)
}
