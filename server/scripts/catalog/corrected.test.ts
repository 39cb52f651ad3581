import { expect, test } from 'bun:test'
import { corrected } from './corrected'

const price = {
  input: 1,
  output: 4,
  search: 0.025,
  tiers: [{ above: 32_000, input: 2, output: 8 }],
  service_tiers: { batch: { input: 0.5, output: 2, tiers: [{ above: 32_000, input: 1 }] } },
}

test('rates of a correction replace the rates of the sources', () => {
  expect(corrected(price, { rates: { search: 0.01 } })).toEqual({ ...price, search: 0.01 })
  expect(corrected(price, {})).toEqual(price)
})

test('bounds are corrected in all service tiers', () => {
  expect(corrected(price, { bounds: { 32_000: 32_768, 128_000: 131_072 } })).toEqual({
    ...price,
    tiers: [{ above: 32_768, input: 2, output: 8 }],
    service_tiers: { batch: { input: 0.5, output: 2, tiers: [{ above: 32_768, input: 1 }] } },
  })
})

test('tiers and service tiers are replaced, or removed', () => {
  const { tiers: _tiers, ...flat } = price
  expect(corrected(price, { tiers: [] })).toEqual(flat)
  const { service_tiers: _services, ...plain } = price
  expect(corrected(price, { service_tiers: { batch: null } })).toEqual(plain)
  const priority = { input: 2, output: 8 }
  expect(corrected(price, { service_tiers: { batch: null, priority } })).toEqual({
    ...plain,
    service_tiers: { priority },
  })
})

test('days off are excluded from all peak hours', () => {
  const hours = [{ from: 60, until: 240, days: [1], input: 2, output: 8 }]
  expect(corrected({ ...price, hours }, { off_peak_days: ['2027-01-01'] }).hours).toEqual([
    { from: 60, until: 240, days: [1], input: 2, output: 8, except: ['2027-01-01'] },
  ])
})
