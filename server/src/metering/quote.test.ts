import { expect, test } from 'bun:test'
import { quote } from './quote'

const model = {
  isFree: false,
  category: 'chat' as const,
  pricing: { input: 1_500_000_000n, output: 6_000_000_001n, request: 7n },
}
const paidBy = (mode: 'platform' | 'house' | 'byok' | 'org_pays' | 'member_pays' | 'free') => ({
  model,
  billing: { mode },
})

test('all of it is rounded up once, its parts each', () => {
  // 1,500 and 6,000.000001 nano-dollars a token; 7 for the request.
  expect(quote(paidBy('platform'), { input: 1, output: 1 }, 0)).toEqual({
    input: 1500n,
    output: 6001n,
    total: 7508n,
  })
  expect(quote(paidBy('member_pays'), { input: 0, output: 0 }, 0).total).toBe(7n)
})

test('images and characters are part of their side', () => {
  const pricing = { input: 0n, output: 0n, image: 5n, inputCharacters: 2n, outputCharacters: 3n }
  const paying = { model: { ...model, pricing }, billing: { mode: 'platform' as const } }
  const characters = { input: 1_000_000, output: 2_000_000 }
  expect(quote(paying, { input: 1, output: 1, images: 2, characters }, 0)).toEqual({
    input: 12n,
    output: 6n,
    total: 18n,
  })
})

test('charges only the fee where the payer pays the provider', () => {
  const tokens = { input: 1_000_000, output: 0 }
  for (const mode of ['byok', 'org_pays'] as const) {
    expect(quote(paidBy(mode), tokens, 0).total).toBe(0n)
    expect(quote(paidBy(mode), tokens, 50_000).total).toBe(75_000_000n)
  }
})

test('costs nothing if it is free, or has no price on an own connection', () => {
  const nothing = { input: 0n, output: 0n, total: 0n }
  const tokens = { input: 1000, output: 1000 }
  expect(quote(paidBy('free'), tokens, 50_000)).toEqual(nothing)
  const free = { ...model, isFree: true }
  expect(quote({ model: free, billing: { mode: 'byok' } }, tokens, 50_000)).toEqual(nothing)
  const unknown = { ...model, pricing: null }
  expect(quote({ model: unknown, billing: { mode: 'byok' } }, tokens, 0)).toEqual(nothing)
})
