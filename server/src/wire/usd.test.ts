import { expect, test } from 'bun:test'
import * as fc from 'fast-check'
import { plainUsd } from './usd'

test('nano-dollars in plain digits: exact, no zeros at the end, no exponent', () => {
  const amounts = [0n, 1n, 10n, 999_999_999n, 1_000_000_000n, 1_500_000_000n, 120_000_000_000n]
  expect(amounts.map(plainUsd)).toEqual([
    '0',
    '0.000000001',
    '0.00000001',
    '0.999999999',
    '1',
    '1.5',
    '120',
  ])
  const property = fc.property(fc.bigInt({ min: 0n, max: 10n ** 18n }), (nanos) => {
    const [whole = '', part = ''] = plainUsd(nanos).split('.')
    expect(BigInt(whole) * 1_000_000_000n + BigInt(part.padEnd(9, '0'))).toBe(nanos)
    expect(part).not.toMatch(/0$/)
  })
  fc.assert(property)
})
