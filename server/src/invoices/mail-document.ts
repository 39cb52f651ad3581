import { sql, type Transaction } from 'kysely'
import { formatAmount, nameTax, titleOf } from './invoice-page'
import { readBuyer } from './party'
import type { StoredInvoice } from './stored-invoice'
import type { Schema } from '../platform/db/schema'
import { postMail } from '../platform/mail/outbox'
import { toOneLine } from '../wire/one-line'

/** The longest name in a subject, in characters. */
const maxName = 100

/** Returns the address that documents of an account are mailed to; undefined where they are not. */
async function readBillingAddress(
  trx: Transaction<Schema>,
  accountId: string,
): Promise<string | undefined> {
  const { rows } = await sql<{ email: string | null }>`
    select coalesce(billing_email, email) as email from company
    where account_id = ${accountId} and mail_invoices`.execute(trx)
  const [company] = rows
  if (!company) return undefined
  return company.email ?? (await readBuyer(trx, accountId)).email ?? undefined
}

type MailedDocument = Pick<
  StoredInvoice,
  'id' | 'kind' | 'number' | 'total' | 'tax_amount' | 'tax' | 'seller' | 'corrects_number'
>

const amountOf = (nanos: bigint) => `${formatAmount(nanos)} USD`

/** Writes the mail of a document. */
function toDocumentMail(document: MailedDocument, address: string) {
  const { id, number, seller, total, tax, tax_amount: taxAmount, corrects_number: of } = document
  const title = titleOf(document)
  const taxed = tax && taxAmount !== null ? `, with ${nameTax(tax)} of ${amountOf(taxAmount)}` : ''
  const ofInvoice = of === null ? '' : ` for invoice ${of}`
  return {
    subject: `${title} ${number} from ${toOneLine(seller.name, maxName)}`,
    body: [
      `${title} ${number}${ofInvoice}: ${amountOf(total)}${taxed}.`,
      address === ''
        ? 'It is in your account, under Billing.'
        : `Sign in to read, print or save it: ${address}/invoices/${id}`,
      'You receive this mail because your account or organization mails its invoices to this address.',
    ].join('\n\n'),
  }
}

/**
 * Queues the mail of a document, in the transaction that issues it: once, and only where that is committed. `address` is the
 * public one of the service.
 */
export async function mailDocument(
  trx: Transaction<Schema>,
  { accountId, address, ...document }: MailedDocument & { accountId: string; address: string },
): Promise<void> {
  const recipient = await readBillingAddress(trx, accountId)
  if (recipient === undefined) return
  await postMail(trx, {
    recipient,
    ...toDocumentMail(document, address),
    reference: `invoice ${document.id}`,
  })
}
