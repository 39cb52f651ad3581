import { createHash } from 'node:crypto'
import type { InvoiceParty } from './party'
import type { StoredInvoice } from './stored-invoice'
import type { TaxTerms } from './tax'
import { formatSignedUsd } from '../wire/usd'

const style = `
:root { color-scheme: light }
* { box-sizing: border-box }
body { margin: 0 auto; padding: 2rem 1.25rem; max-width: 52rem; background: #fff; color: #16191d;
  font: 15px/1.5 system-ui, sans-serif }
h1 { margin: 0; font-size: 1.75rem; line-height: 1.2 }
h2 { margin: 0 0 .25rem; font-size: .8rem; color: #555d66; font-weight: 600 }
header, .parties { display: flex; flex-wrap: wrap; gap: 1.5rem; justify-content: space-between }
.parties { margin: 2rem 0; display: grid; grid-template-columns: repeat(auto-fit, minmax(14rem, 1fr)) }
address { font-style: normal; overflow-wrap: anywhere }
dl { display: grid; grid-template-columns: auto auto; gap: .15rem 1rem; margin: 0 }
dt { color: #555d66 } dd { margin: 0; text-align: right; overflow-wrap: anywhere }
table { width: 100%; border-collapse: collapse }
th { color: #555d66; font-weight: 600; text-align: left; border-bottom: 2px solid #16191d }
th, td { padding: .45rem .5rem .45rem 0; vertical-align: top }
td { border-bottom: 1px solid #d7dbe0; overflow-wrap: anywhere }
.n { text-align: right; padding-right: 0; padding-left: .5rem; font-variant-numeric: tabular-nums;
  overflow-wrap: normal }
tfoot td { border: 0; font-weight: 700; font-size: 1.05rem }
.note { margin-top: 2rem; white-space: pre-line; color: #3d444c }
@media (max-width: 32rem) {
  .tokens { display: none }
  body { padding: 1.25rem 1rem }
}
@page { margin: 18mm }
@media print {
  body { max-width: none; padding: 0; font-size: 10.5pt }
  thead { display: table-header-group }
  tr, address, .note { break-inside: avoid }
  .tokens { display: table-cell }
}
`

/** Content-Security-Policy of the page: its own style, and nothing else. */
export const invoicePolicy = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}
const escape = (text: string) =>
  text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? '')

const countries = new Intl.DisplayNames('en', { type: 'region', fallback: 'code' })
const days = new Intl.DateTimeFormat('en', { dateStyle: 'long', timeZone: 'UTC' })
const months = new Intl.DateTimeFormat('en', { month: 'long', year: 'numeric', timeZone: 'UTC' })
const counts = new Intl.NumberFormat('en')

/** An amount with all of its digits, two decimals at least. */
export function formatAmount(nanos: bigint): string {
  const [whole = '0', decimals = ''] = formatSignedUsd(nanos).split('.')
  const sign = whole.startsWith('-') ? '-' : ''
  const grouped = counts.format(BigInt(whole.replace('-', '')))
  return `${sign}${grouped}.${decimals.padEnd(2, '0')}`
}

const addressOf = (title: string, party: InvoiceParty) => `<address>
<h2>${title}</h2>
<strong>${escape(party.name)}</strong>
${[
  ...party.address,
  ...(party.country === null ? [] : [countries.of(party.country) ?? party.country]),
  ...(party.tax_id === null ? [] : [`Tax ID: ${party.tax_id}`]),
  ...(party.email === null ? [] : [party.email]),
]
  .map((line) => `<br>${escape(line)}`)
  .join('\n')}
</address>`

const count = (value: bigint | null) => (value === null ? '' : counts.format(value))

const rowOf = (line: StoredInvoice['lines'][number], hasCounts: boolean) => `<tr>
<td>${escape(line.description)}</td>
${
  hasCounts
    ? `<td class="n">${count(line.requests)}</td>
<td class="n tokens">${count(line.input_tokens)}</td>
<td class="n tokens">${count(line.output_tokens)}</td>
`
    : ''
}<td class="n">${formatAmount(line.amount)}</td>
</tr>`

function factsOf(invoice: StoredInvoice) {
  const { kind, subject, issued_on: date, buyer, paid_at: paidAt } = invoice
  const facts: [string, string][] = [['Date', days.format(Date.parse(date))]]
  if (kind === 'usage')
    facts.push(['Period', `${months.format(Date.parse(`${subject}-01`))} (UTC)`])
  if (paidAt) facts.push([kind === 'purchase' ? 'Paid' : 'Booked', days.format(paidAt)])
  if (invoice.corrects_number !== null) facts.push(['Invoice', invoice.corrects_number])
  if (invoice.payment_id !== null) facts.push(['Payment', invoice.payment_id])
  if (buyer.purchase_order !== null) facts.push(['Purchase order', buyer.purchase_order])
  return facts.map(([name, value]) => `<dt>${name}</dt><dd>${escape(value)}</dd>`).join('\n')
}

/** Returns the title of a document. */
export function titleOf({ kind, total }: Pick<StoredInvoice, 'kind' | 'total'>): string {
  if (kind === 'usage') return 'Usage invoice'
  if (kind === 'purchase') return 'Invoice'
  return total > 0n ? 'Cancellation of a credit note' : 'Credit note'
}

/** A credit note shows what it credits as positive amounts. */
const signOf = ({ kind, total }: StoredInvoice) => (kind === 'credit_note' && total < 0n ? -1n : 1n)

const isUsage = ({ kind }: StoredInvoice) => kind === 'usage'

const headOf = (invoice: StoredInvoice) =>
  `<tr><th>${isUsage(invoice) ? 'Model' : 'Description'}</th>${
    isUsage(invoice)
      ? '<th class="n">Requests</th><th class="n tokens">Input tokens</th><th class="n tokens">Output tokens</th>'
      : ''
  }<th class="n">Amount, USD</th></tr>`

/** Returns the name of a tax with its rate, such as `VAT 19 %`. */
export const nameTax = ({ name, rate }: TaxTerms): string =>
  rate === null ? name : `${name} ${rate} %`

/** The sums below the lines. What was paid in advance leaves nothing to pay. */
function sumsOf(invoice: StoredInvoice): [name: string, amount: bigint][] {
  const { kind, tax, tax_amount: taxAmount } = invoice
  const sign = signOf(invoice)
  const total = invoice.total * sign
  const taxed: [string, bigint][] =
    tax === null || taxAmount === null
      ? []
      : [
          ['Net', total - taxAmount * sign],
          [nameTax(tax), taxAmount * sign],
        ]
  if (kind === 'credit_note') {
    return [...taxed, [invoice.total > 0n ? 'Total' : 'Total credited', total]]
  }
  return [
    ...taxed,
    ['Total', total],
    [kind === 'usage' ? 'Paid from prepaid credits' : 'Paid', -total],
    ['Amount due', 0n],
  ]
}

const noteOf = (text: string | null | undefined) =>
  text === null || text === undefined ? '' : `<p class="note">${escape(text)}</p>`

/** Writes a document as a page to print. All texts are escaped: names come from people. */
export function toInvoicePage(invoice: StoredInvoice): string {
  const { number, seller, buyer, tax } = invoice
  const title = titleOf(invoice)
  const lines = invoice.lines.map((line) => ({ ...line, amount: line.amount * signOf(invoice) }))
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} ${escape(number)}</title>
<style>${style}</style>
</head>
<body>
<main>
<header>
<div><h1>${title}</h1>${escape(number)}</div>
<dl>
${factsOf(invoice)}
</dl>
</header>
<div class="parties">
${addressOf('From', seller)}
${addressOf('To', buyer)}
</div>
<table>
<thead>${headOf(invoice)}</thead>
<tbody>
${lines.map((line) => rowOf(line, isUsage(invoice))).join('\n')}
</tbody>
<tfoot>
${sumsOf(invoice)
  .map(([name, amount]) => sumRow(name, amount, isUsage(invoice)))
  .join('\n')}
</tfoot>
</table>
${noteOf(tax?.reverse_charge)}
${noteOf(seller.note)}
</main>
</body>
</html>
`
}

const sumRow = (name: string, amount: bigint, hasCounts: boolean) =>
  `<tr><td>${escape(name)}</td>${
    hasCounts ? '<td></td><td class="tokens"></td><td class="tokens"></td>' : ''
  }<td class="n">${formatAmount(amount)}</td></tr>`
