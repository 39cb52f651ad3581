import { sql, type Kysely, type Transaction } from 'kysely'
import {
  describeMovement,
  toCreditNoteAmounts,
  type DocumentAmounts,
  type ReversalMovement,
} from './credit-note'
import { issueDocument, lineOfMoney, type DocumentContent } from './issue-document'
import { findInvoice } from './stored-invoice'
import type { InvoiceTerms } from './terms'
import type { Schema } from '../platform/db/schema'

const batchSize = 100

interface CreditNotePorts {
  db: Kysely<Schema>
  terms: InvoiceTerms
  /** Called when one credit note could not be issued; the next round tries again. */
  onError: (error: unknown, subject: object) => void
}

/** A movement that has no credit note, of a payment that has an invoice. */
interface DueMovement extends ReversalMovement {
  reversalId: string
  invoiceId: string
  accountId: string
  bookedAt: Date
}

/**
 * Issues the credit notes of refunds and lost disputes, one for each movement in the ledger, in the order in which they were
 * booked. Resolves with their number.
 */
export async function issueCreditNotes({ db, terms, onError }: CreditNotePorts): Promise<number> {
  let issued = 0
  const failed = new Set<string>()
  for (const movement of await findUndocumented(db)) {
    // The amounts of a later one follow from those before it.
    if (failed.has(movement.invoiceId)) continue
    try {
      if ((await issueCreditNote(db, terms, movement)) !== undefined) issued++
    } catch (error) {
      failed.add(movement.invoiceId)
      onError(error, { invoice: movement.invoiceId, reversal: movement.reversalId })
    }
  }
  return issued
}

/**
 * Reads the movements of reversals with fewer credit notes than movements. The house's entry has the whole amount: that of
 * the account is less where it became a debt.
 */
async function findUndocumented(db: Kysely<Schema>): Promise<DueMovement[]> {
  const { rows } = await sql<DueMovement>`
    with due as materialized (
      select r.id, r.created_at, payment.account_id, payment.invoice_id
      from payment_reversal as r join payment on payment.payment_ref = r.payment_ref
      where r.documented < r.movements and payment.invoice_id is not null
      order by r.id limit ${batchSize}
    )
    select due.id as "reversalId", due.invoice_id as "invoiceId", due.account_id as "accountId",
      t.external_ref as subject, t.kind, e.amount, t.created_at as "bookedAt"
    from due join ledger_transaction as t
      on t.kind in ('refund', 'dispute') and split_part(t.external_ref, ':', 1) = due.id
    join ledger_entry as e on e.transaction_id = t.id and e.account_id = 'house:topup'
    where t.created_at >= (select min(created_at) from due)
      and not exists (
        select from invoice
        where invoice.account_id = due.account_id and invoice.kind = 'credit_note'
          and invoice.subject = t.external_ref
      )
    order by e.id`.execute(db)
  return rows
}

const issueCreditNote = (db: Kysely<Schema>, terms: InvoiceTerms, movement: DueMovement) =>
  issueDocument(
    db,
    {
      prefix: terms.creditNotePrefix,
      address: terms.address,
      document: {
        accountId: movement.accountId,
        kind: 'credit_note',
        subject: movement.subject,
        paidAt: movement.bookedAt,
      },
    },
    async (trx) => {
      await trx
        .updateTable('payment_reversal')
        .set(({ eb }) => ({ documented: eb('documented', '+', 1) }))
        .where('id', '=', movement.reversalId)
        .execute()
      return readCreditNote(trx, movement)
    },
  )

/** Seller, buyer and tax are those of the invoice that it corrects. */
async function readCreditNote(
  trx: Transaction<Schema>,
  movement: DueMovement,
): Promise<DocumentContent> {
  const { accountId, invoiceId: id } = movement
  const invoice = await findInvoice(trx, { accountId, id })
  if (!invoice) throw new Error(`there is no invoice ${id}`)
  const { rows: earlier } = await sql<DocumentAmounts>`
    select total, tax_amount as "taxAmount" from invoice where corrects_id = ${id}`.execute(trx)
  const { number, total, tax_amount: taxAmount, seller, buyer, tax } = invoice
  const note = toCreditNoteAmounts({ total, taxAmount }, earlier, movement)
  return {
    lines: [{ ...lineOfMoney, description: describeMovement(movement), amount: note.total }],
    seller,
    buyer,
    tax:
      tax === null || note.taxAmount === null ? undefined : { amount: note.taxAmount, terms: tax },
    corrects: { id, number },
  }
}
