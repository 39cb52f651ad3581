import { createHash } from 'node:crypto'
import type { InvoiceParty } from './party'
import type { StoredInvoice } from './stored-invoice'
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

const rowOf = (line: StoredInvoice['lines'][number], isUsage: boolean) => `<tr>
<td>${escape(line.description)}</td>
${
  isUsage
    ? `<td class="n">${count(line.requests)}</td>
<td class="n tokens">${count(line.input_tokens)}</td>
<td class="n tokens">${count(line.output_tokens)}</td>
`
    : ''
}<td class="n">${formatAmount(line.amount)}</td>
</tr>`

function factsOf({ kind, subject, issued_on: date, buyer, paid_at: paidAt }: StoredInvoice) {
  const facts: [string, string][] = [['Date', days.format(Date.parse(date))]]
  if (kind === 'usage')
    facts.push(['Period', `${months.format(Date.parse(`${subject}-01`))} (UTC)`])
  if (paidAt) facts.push(['Paid', days.format(paidAt)])
  if (kind === 'purchase') facts.push(['Payment', subject])
  if (buyer.purchase_order !== null) facts.push(['Purchase order', buyer.purchase_order])
  return facts.map(([name, value]) => `<dt>${name}</dt><dd>${escape(value)}</dd>`).join('\n')
}

/** Writes a document as a page to print. All texts are escaped: names come from people. */
export function toInvoicePage(invoice: StoredInvoice): string {
  const { kind, number, seller, buyer, lines, total } = invoice
  const isUsage = kind === 'usage'
  const title = isUsage ? 'Usage invoice' : 'Invoice'
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
<thead><tr><th>${isUsage ? 'Model' : 'Description'}</th>${
    isUsage
      ? '<th class="n">Requests</th><th class="n tokens">Input tokens</th><th class="n tokens">Output tokens</th>'
      : ''
  }<th class="n">Amount, USD</th></tr></thead>
<tbody>
${lines.map((line) => rowOf(line, isUsage)).join('\n')}
</tbody>
<tfoot>
${totalRow('Total', total, isUsage)}
${totalRow(isUsage ? 'Paid from prepaid credits' : 'Paid', -total, isUsage)}
${totalRow('Amount due', 0n, isUsage)}
</tfoot>
</table>
${seller.note === null ? '' : `<p class="note">${escape(seller.note)}</p>`}
</main>
</body>
</html>
`
}

const totalRow = (name: string, amount: bigint, isUsage: boolean) =>
  `<tr><td>${name}</td>${
    isUsage ? '<td></td><td class="tokens"></td><td class="tokens"></td>' : ''
  }<td class="n">${formatAmount(amount)}</td></tr>`
