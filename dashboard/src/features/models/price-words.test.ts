import { expect, test } from 'bun:test'
import { isShownRate, rateText, unitPrice } from './price-words'

const none = { input: 0, output: 0 }

test('a price by another unit than tokens is written with it', () => {
  expect(unitPrice({ ...none, made_image: 0.04 })).toBe('$0.04 per image')
  expect(unitPrice({ ...none, input_characters: 15 })).toBe('$15.00 per 1M characters')
  expect(unitPrice({ ...none, audio_hour: 0.36 })).toBe('$0.006 per minute')
  expect(unitPrice({ ...none, search: 0.002 })).toBe('$0.002 per search')
  expect(unitPrice({ input: 2, output: 8, made_image: 0.04 })).toBeUndefined()
  expect(unitPrice(none)).toBeUndefined()
  expect(rateText('audio_hour', 0.36)).toBe('$0.36 per hour')
  expect(rateText('input', 2.5)).toBe('$2.50')
  expect(rateText('request', 0.005)).toBe('$0.005 per request')
})

test('tokens without a cost are hidden beside other rates', () => {
  expect(isShownRate({ ...none, made_image: 0.04 }, 'input')).toBe(false)
  expect(isShownRate({ ...none, made_image: 0.04 }, 'made_image')).toBe(true)
  expect(isShownRate({ input: 2, output: 0 }, 'output')).toBe(true)
  expect(isShownRate({ input: null, output: null }, 'input')).toBe(false)
})
