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

test.each([
  [0n, '0.00'],
  [5_000_000_000n, '5.00'],
  [1n, '0.000000001'],
  [-12_345_678_900_000n, '-12,345.6789'],
] as const)('%d nano-dollars are %s', (nanos, text) => {
  expect(formatAmount(nanos)).toBe(text)
})
