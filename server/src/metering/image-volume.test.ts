import { describe, expect, test } from 'bun:test'
import { costAt, selectUsagePrice } from './applied-price'
import { boundImages, type ImageOrder } from './image-volume'
import { computeWorstCase, fullPrice } from './worst-case'
import type { Pricing } from '../catalog/model'
import { noUsage, type Usage } from '../wire/usage'

const model = { upstreamModel: 'gpt-image-2', contextLength: null, maxOutputTokens: null }
const order: ImageOrder = {
  prompt: 'A lighthouse',
  count: 2,
  quality: undefined,
  size: undefined,
  partialImages: 0,
  inputImages: 0,
}

/** DALL·E 3, in nano-dollars. */
const byImage: Pricing = {
  input: 0n,
  output: 0n,
  madeImage: 40n,
  tiers: [
    { abovePixels: 1_048_576, rates: { madeImage: 80n } },
    { quality: 'hd', rates: { madeImage: 90n } },
    { quality: 'hd', abovePixels: 1_048_576, rates: { madeImage: 120n } },
  ],
}

const holdOf = (fields: Partial<ImageOrder>, pricing: Pricing) =>
  fullPrice(computeWorstCase(boundImages({ ...order, ...fields }, model, 1), pricing, 0))

const costOf = (fields: Partial<ImageOrder>, usage: Partial<Usage>, pricing = byImage) => {
  const volume = boundImages({ ...order, ...fields }, model, 1)
  const counted = { ...noUsage, ...usage }
  return costAt(counted, selectUsagePrice(counted, { pricing, minute: 0, volume }), volume)
}

describe('the hold is the highest price that a request reaches', () => {
  test.each([
    ['of any quality and size', {}, 240n],
    ['of auto', { quality: 'auto', size: 'auto' }, 240n],
    ['of a quality', { quality: 'standard' }, 160n],
    ['of a size', { size: '1024x1024' }, 180n],
    ['of both', { quality: 'hd', size: '1024x1024' }, 180n],
    ['of the smallest', { quality: 'standard', size: '1024x1024', count: 1 }, 40n],
  ])('%s', (_what, fields, hold) => {
    expect(holdOf(fields, byImage)).toBe(hold)
  })

  test('by pixel', () => {
    const pricing = { input: 0n, output: 0n, madeMegapixel: 1_000_000n }
    expect(holdOf({ size: '500x200' }, pricing)).toBe(200_000n)
    expect(holdOf({}, pricing)).toBe(2n * 2048n * 2048n)
  })

  test('by token, of models that know the highest quality too', () => {
    const pricing = { input: 0n, output: 0n, imageOutput: 1_000_000n }
    expect(holdOf({ quality: 'low' }, pricing)).toBe(2n * 512n)
    expect(holdOf({}, pricing)).toBe(2n * 8192n)
    const newer = { ...model, upstreamModel: 'gpt-image-2.5-flare' }
    const worst = computeWorstCase(boundImages(order, newer, 1), pricing, 0)
    expect(fullPrice(worst)).toBe(2n * 32_768n)
  })
})

describe('the charge never exceeds the hold', () => {
  const pixels = 1024 * 1792
  test.each([
    ['more images than requested', {}, { madeImages: 5, madePixels: 5 }, 80n],
    ['a larger image', { size: '512x512' }, { madeImages: 2, madePixels: 2 * pixels }, 80n],
    [
      'a quality that was not requested',
      { quality: 'standard' },
      { madeImages: 1, madePixels: 1, imageQuality: 'hd' },
      40n,
    ],
    [
      'the reported quality where none was requested',
      {},
      { madeImages: 1, madePixels: pixels, imageQuality: 'hd' },
      120n,
    ],
    ['no image', {}, {}, 0n],
  ])('%s', (...[, fields, usage, cost]) => {
    expect(costOf(fields, usage)).toBe(cost)
  })
})
