import type { Logger } from 'pino'
import type { Storage } from './storage'
import type { Config } from '../platform/config/config'
import { comparePayments } from '../payments/comparison'
import type { Processor } from '../payments/processor'
import { nameOf } from '../payments/differences'
import { findingInWords } from '../payments/notify-payer'

interface Parts {
  config: Config
  storage: Storage
  log: Logger
}

/** The longest interval between checks whether a comparison is due. */
const mostPauseMs = 600_000

/** Compares payments with the processor's lists once a day, on one node, and logs the differences. */
export function keepComparing({ config, storage, log }: Parts, processor: Processor): Disposable {
  const everyMs = config.payments.compareEveryMs
  const options = { db: storage.database.query, processor, everyMs, nowMs: () => performance.now() }
  let isRunning = false
  let isClosed = false
  const compare = async () => {
    const comparison = await comparePayments(options)
    if (!comparison) return
    for (const finding of comparison.found) {
      const { paymentRef, kind, claimed, booked } = finding
      // The log is JSON, which has no bigint.
      const amounts = { claimed: String(claimed), booked: String(booked) }
      const subject = { paymentRef, kind, finding: nameOf(finding), ...amounts }
      log.error(
        subject,
        `the ledger differs from the payment processor: ${findingInWords(finding)}`,
      )
    }
    if (!comparison.isWhole) {
      log.warn('there were more payments to compare than there was time; some were not looked at')
    }
  }
  const timer = setInterval(
    () => {
      if (isRunning) return
      isRunning = true
      void compare()
        .catch((err: unknown) => {
          // Errors of a query that a shutdown interrupts are not logged.
          if (!isClosed)
            log.warn({ err }, 'payments could not be compared; trying again in an hour')
        })
        .finally(() => (isRunning = false))
    },
    Math.min(everyMs, mostPauseMs),
  )
  timer.unref()
  return {
    [Symbol.dispose]() {
      isClosed = true
      clearInterval(timer)
    },
  }
}
