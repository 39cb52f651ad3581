import { expect, test } from 'bun:test'
import * as fc from '../../testing/property'
import { parseUsd, formatPlainUsd } from './usd'

test('nano-dollars in plain digits: exact, no zeros at the end, no exponent', () => {
  const amounts = [0n, 1n, 10n, 999_999_999n, 1_000_000_000n, 1_500_000_000n, 120_000_000_000n]
  expect(amounts.map(formatPlainUsd)).toEqual([
    '0',
    '0.000000001',
    '0.00000001',
    '0.999999999',
    '1',
    '1.5',
    '120',
  ])
  const property = fc.property(fc.bigInt({ min: 0n, max: 10n ** 18n }), (nanos) => {
    const [whole = '', part = ''] = formatPlainUsd(nanos).split('.')
    expect(BigInt(whole) * 1_000_000_000n + BigInt(part.padEnd(9, '0'))).toBe(nanos)
    expect(part).not.toMatch(/0$/)
  })
  fc.assert(property)
})

test('a number written with up to nine decimals keeps every one of them', () => {
  // Fourteen digits; above fifteen a double no longer holds numbers apart.
  const writtenAmount = fc.tuple(fc.nat(99_999), fc.nat(999_999_999))
  const property = fc.property(writtenAmount, ([whole, nanos]) => {
    const text = `${whole}.${String(nanos).padStart(9, '0')}`
    expect(parseUsd(Number(text))).toBe(BigInt(whole) * 1_000_000_000n + BigInt(nanos))
  })
  fc.assert(property)
  expect(parseUsd(0.15)).toBe(150_000_000n)
  expect(parseUsd(1e-9)).toBe(1n)
  expect(parseUsd(2.5e-7)).toBe(250n)
  expect(parseUsd(0.08333333333333334)).toBe(83_333_333n)
  expect(parseUsd(1.5e21)).toBe(1_500_000_000_000_000_000_000_000_000_000n)
})
