import { sql, type Kysely, type Transaction } from 'kysely'
import { issueCreditNotes } from './issue-credit-notes'
import { issueDocument, lineOfMoney, type DocumentContent } from './issue-document'
import { readBuyer } from './party'
import { addMonths, findUnbilled, readMonthLines } from './month-lines'
import { computeTax } from './tax'
import type { InvoiceTerms } from './terms'
import type { Schema } from '../platform/db/schema'

/** Usage of a month is booked within this time of its end, as a rule. */
const monthWaitMs = 86_400_000
const batchSize = 100
/** The longest that a payment takes, with methods whose money is on its way for days. */
const maxPendingMs = 60 * 86_400_000

interface InvoicePorts {
  db: Kysely<Schema>
  terms: InvoiceTerms
  nowMs: number
  /** The months without anything left to bill, by prefix and month: they are not looked at again. */
  finished: Set<string>
  /** Called when one document could not be issued; the next round tries again. */
  onError: (error: unknown, subject: object) => void
}

/**
 * Issues the documents that are due: of payments, of what was taken back of them, and of months that ended a day ago. For one node at a time, although two
 * would issue none twice. Resolves with their number.
 */
export async function issueInvoices(ports: InvoicePorts): Promise<number> {
  let issued = await issuePurchases(ports)
  issued += await issueCreditNotes(ports)
  const firstMonth = ports.terms.from.slice(0, 7)
  const running = new Date(ports.nowMs - monthWaitMs).toISOString().slice(0, 7)
  for (let month = firstMonth; month < running; month = addMonths(month, 1)) {
    issued += await issueMonth(ports, month)
  }
  return issued
}

interface PaidPayment {
  id: string
  account_id: string
  amount: bigint
  kind: 'checkout' | 'automatic'
  tax: bigint | null
  paid_at: Date
}

async function issuePurchases({ db, terms, onError }: InvoicePorts): Promise<number> {
  const from = new Date(`${terms.from}T00:00:00Z`)
  const { rows } = await sql<PaidPayment>`
    select payment.id, payment.account_id, payment.amount, payment.kind, payment.tax,
      t.created_at as paid_at
    from payment join ledger_transaction as t on t.external_ref = payment.payment_ref
    where payment.status = 'completed' and payment.invoice_id is null and t.kind = 'topup'
      and not payment.tax_pending
      and t.created_at >= ${from}
      -- Those of long before are never invoiced: they need not be looked up each time.
      and payment.created_at >= ${new Date(from.getTime() - maxPendingMs)}
    order by t.created_at, payment.id limit ${batchSize}`.execute(db)
  let issued = 0
  for (const payment of rows) {
    try {
      if ((await issuePurchase(db, terms, payment)) !== undefined) issued++
    } catch (error) {
      onError(error, { payment: payment.id })
    }
  }
  return issued
}

const issuePurchase = (db: Kysely<Schema>, terms: InvoiceTerms, payment: PaidPayment) =>
  issueDocument(
    db,
    {
      prefix: terms.prefix,
      address: terms.address,
      document: {
        accountId: payment.account_id,
        kind: 'purchase',
        subject: payment.id,
        paidAt: payment.paid_at,
      },
    },
    (trx) => readPurchase(trx, terms, payment),
  )

async function readPurchase(
  trx: Transaction<Schema>,
  { seller, tax: taxes }: InvoiceTerms,
  { account_id: accountId, amount, kind, tax: reported }: PaidPayment,
): Promise<DocumentContent> {
  const buyer = await readBuyer(trx, accountId)
  const description = kind === 'automatic' ? 'Credits, automatic recharge' : 'Credits'
  return {
    lines: [{ ...lineOfMoney, description, amount }],
    seller,
    buyer,
    tax: computeTax(taxes, { total: amount, reported, seller, buyer }),
  }
}

async function issueMonth(ports: InvoicePorts, month: string): Promise<number> {
  const { db, terms, finished, onError } = ports
  const name = `${terms.prefix} ${terms.from} ${month}`
  if (finished.has(name)) return 0
  let issued = 0
  let hasFailed = false
  for (let after = ''; ;) {
    const accounts = await findUnbilled(db, { month, after, limit: batchSize })
    for (const accountId of accounts) {
      try {
        if ((await issueUsage(ports, accountId, month)) !== undefined) issued++
      } catch (error) {
        hasFailed = true
        onError(error, { accountId, month })
      }
    }
    after = accounts.at(-1) ?? ''
    if (accounts.length < batchSize) break
  }
  if (!hasFailed) finished.add(name)
  return issued
}

const issueUsage = ({ db, terms }: InvoicePorts, accountId: string, month: string) =>
  issueDocument(
    db,
    {
      prefix: terms.prefix,
      address: terms.address,
      document: { accountId, kind: 'usage', subject: month, paidAt: null },
    },
    async (trx) => ({
      lines: await readMonthLines(trx, {
        accountId,
        month,
        firstMonth: terms.from.slice(0, 7),
      }),
      seller: terms.seller,
      buyer: await readBuyer(trx, accountId),
    }),
  )
