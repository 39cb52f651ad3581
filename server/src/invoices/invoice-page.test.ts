import { expect, test } from 'bun:test'
import { formatAmount, toInvoicePage } from './invoice-page'
import type { StoredInvoice } from './stored-invoice'

const invoice: StoredInvoice = {
  id: 'invoice_1',
  account_id: 'user_1',
  kind: 'usage',
  subject: '2026-11',
  number: 'INV-2026-000001',
  issued_on: '2026-12-02',
  paid_at: null,
  total: 1_234_567_890_001n,
  tax_amount: null,
  tax: null,
  payment_id: null,
  corrects_id: null,
  corrects_number: null,
  buyer_name: "O'Neill & Sons",
  seller: {
    name: 'Gateways <script>alert(1)</script>',
    address: ['1 "High" Street'],
    country: 'GB',
    tax_id: 'GB1',
    email: null,
    note: '<img src=x onerror=alert(1)>',
  },
  buyer: {
    name: "O'Neill & Sons",
    address: [],
    country: null,
    tax_id: null,
    email: 'a@example.com',
    purchase_order: '<b>PO</b>',
  },
  lines: [
    {
      description: '<i>model</i>',
      month: '2026-11',
      model: '<i>model</i>',
      requests: 12_345n,
      input_tokens: 1n,
      output_tokens: 2n,
      amount: 1_234_567_890_001n,
    },
  ],
}

test('a page escapes every text, and has no script', () => {
  const page = toInvoicePage(invoice)
  expect(page).not.toMatch(/<script|<img|<b>|<i>|onerror=alert\(1\)>/)
  expect(page).toContain('Gateways &lt;script&gt;alert(1)&lt;/script&gt;')
  expect(page).toContain('O&#39;Neill &amp; Sons')
})

test('a page has its number, period, country, requests and exact amounts', () => {
  const page = toInvoicePage(invoice)
  for (const text of [
    'INV-2026-000001',
    'November 2026 (UTC)',
    'December 2, 2026',
    'United Kingdom',
    '12,345',
    '1,234.567890001',
    '-1,234.567890001',
    'Amount due',
  ]) {
    expect(page).toContain(text)
  }
})

const creditNote: StoredInvoice = {
  ...invoice,
  kind: 'credit_note',
  subject: 'ch_1:5:1',
  number: 'CN-2026-000001',
  corrects_id: 'invoice_2',
  corrects_number: 'INV-2026-000002',
  payment_id: 'cs_1',
  total: -11_900_000_000n,
  tax_amount: -1_900_000_000n,
  tax: { name: 'VAT', rate: 19, reverse_charge: null },
  lines: [
    {
      description: 'Credits, refunded',
      month: null,
      model: null,
      requests: null,
      input_tokens: null,
      output_tokens: null,
      amount: -11_900_000_000n,
    },
  ],
}

test('a credit note names its invoice, and shows its amounts and its tax without a sign', () => {
  const page = toInvoicePage(creditNote)
  for (const text of ['Credit note', 'INV-2026-000002', 'cs_1', 'Total credited', 'VAT 19 %']) {
    expect(page).toContain(text)
  }
  for (const amount of ['>11.90<', '>10.00<', '>1.90<']) expect(page).toContain(amount)
  expect(page).not.toContain('>-')
  expect(page).not.toContain('Amount due')
})

test('a credit note of a refund that was not carried out is a cancellation', () => {
  const page = toInvoicePage({ ...creditNote, total: 11_900_000_000n, tax_amount: 1_900_000_000n })
  expect(page).toContain('Cancellation of a credit note')
  expect(page).not.toContain('Total credited')
})

test.each([
  [0n, '0.00'],
  [5_000_000_000n, '5.00'],
  [1n, '0.000000001'],
  [-12_345_678_900_000n, '-12,345.6789'],
] as const)('%d nano-dollars are %s', (nanos, text) => {
  expect(formatAmount(nanos)).toBe(text)
})
