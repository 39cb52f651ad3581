import type { Kysely } from 'kysely'
import type { Logger } from 'pino'
import { issueInvoices } from '../invoices/issue-invoices'
import { toTerms, type InvoiceSettings } from '../invoices/terms'
import { runExclusively } from '../platform/db/advisory-lock'
import type { Schema } from '../platform/db/schema'
import { Periodic } from '../platform/periodic'

interface Dependencies {
  db: Kysely<Schema>
  intervalMs: number
  settings: () => InvoiceSettings
  /** The public address of the service, for mails. */
  address: () => string
  log: Logger
}

/** The issue of invoices that are due, on one node at a time. */
export function createInvoices({ db, intervalMs, settings, address, log }: Dependencies): Periodic {
  const finished = new Set<string>()
  const onError = (err: unknown, subject: object) =>
    log.error({ err, ...subject }, 'an invoice could not be issued yet; retrying')
  return new Periodic({
    intervalMs,
    run: async () => {
      const terms = toTerms(settings(), address())
      if (!terms) return
      const ports = { db, terms, nowMs: Date.now(), finished, onError }
      await runExclusively(db, 'invoices', () => issueInvoices(ports))
    },
    onError: (err) => log.error({ err }, 'invoices could not be issued'),
  })
}
