import { describe, expect, test } from 'bun:test'
import * as fc from '../../testing/property'
import { computeTax, taxIncluded } from './tax'

const cent = 10_000_000n
const settings = { taxName: 'VAT', taxRate: 19, reverseCharge: 'Reverse charge' }
const german = { country: 'DE', tax_id: null }
const payment = { total: 11_900n * cent, reported: null, seller: german, buyer: german }
const frenchBusiness = { country: 'FR', tax_id: 'FR1' }

test.each([
  [11_900n, 19, 1900n],
  [10_000n, 20, 1667n],
  [100n, 8.875, 8n],
  [3n, 20, 1n],
  [1n, 19, 0n],
  [10_000n, 0, 0n],
  [10_000n, 100, 5000n],
  [99_999_999_999n, 7.125, 6_651_108_518n],
] as const)('a total of %p cents at %p percent includes %p cents of tax', (total, rate, tax) => {
  expect(taxIncluded(total * cent, rate)).toBe(tax * cent)
})

test('the tax in a total is whole cents, and the cent that is nearest to its rate', () => {
  const property = fc.property(
    fc.integer({ min: 1, max: 10_000_000 }),
    fc.integer({ min: 0, max: 100_000 }),
    (cents, thousandths) => {
      const total = BigInt(cents)
      const tax = taxIncluded(total * cent, thousandths / 1000)
      expect(tax % cent).toBe(0n)
      // | net * rate - tax | is at most half a cent of the tax, in fractions without rounding.
      const share = 100_000n + BigInt(thousandths)
      const distance = 2n * ((tax / cent) * share - total * BigInt(thousandths))
      expect(distance <= share && distance > -share).toBe(true)
    },
  )
  fc.assert(property, { numRuns: 2000 })
})

describe('the tax of an invoice', () => {
  test('is that of the processor before any configured rate', () => {
    const tax = computeTax(settings, { ...payment, reported: 700n * cent })
    expect(tax).toEqual({
      amount: 700n * cent,
      terms: { name: 'VAT', rate: null, reverse_charge: null },
    })
  })

  test('is included in the payment by the rate of the operator', () => {
    expect(computeTax(settings, payment)).toEqual({
      amount: 1900n * cent,
      terms: { name: 'VAT', rate: 19, reverse_charge: null },
    })
  })

  test('is missing without a rate and without the processor', () => {
    expect(computeTax({ ...settings, taxRate: 0 }, payment)).toBeUndefined()
  })

  test('is owed by a business of another country, where the operator has the text for it', () => {
    const abroad = { ...payment, buyer: frenchBusiness }
    expect(computeTax(settings, abroad)).toEqual({
      amount: 0n,
      terms: { name: 'VAT', rate: 0, reverse_charge: 'Reverse charge' },
    })
    expect(computeTax({ ...settings, reverseCharge: null }, abroad)?.amount).toBe(1900n * cent)
    const reported = computeTax(settings, { ...abroad, reported: 0n })
    expect(reported?.terms.reverse_charge).toBe('Reverse charge')
    const charged = computeTax(settings, { ...abroad, reported: 5n * cent })
    expect(charged?.terms.reverse_charge).toBeNull()
  })

  test.each([
    ['without a tax ID', { country: 'FR', tax_id: null }],
    ['without a country', { country: null, tax_id: 'FR1' }],
    ['of the same country', { country: 'DE', tax_id: 'DE1' }],
  ])('is owed by the seller for a buyer %s', (_what, buyer) => {
    expect(computeTax(settings, { ...payment, buyer })?.amount).toBe(1900n * cent)
  })
})
