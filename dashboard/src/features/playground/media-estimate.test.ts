import { describe, expect, test } from 'bun:test'
import {
  estimateImages,
  estimateSpeech,
  estimateTranscription,
  type MediaPricing,
} from './media-estimate'

const pricing: MediaPricing = {
  input: 0,
  output: 0,
  input_characters: null,
  request: null,
  tiers: [],
}

describe('the estimate', () => {
  test('of images is their number, at the price of size and quality', () => {
    const none = { input: null, output: null, input_characters: null, request: null }
    const tier = { ...none, above: null, service_tier: null, from: null }
    const painted: MediaPricing = {
      ...pricing,
      made_image: 0.04,
      tiers: [
        { ...tier, made_image: 0.08, quality: 'hd' },
        { ...tier, made_image: 0.12, quality: 'hd', above_pixels: 1_048_576 },
      ],
    }
    const estimate = (fields: object) =>
      estimateImages(painted, { n: 2, size: '1024x1024', quality: 'standard', ...fields })
    expect(estimate({})).toBe('About $0.08')
    expect(estimate({ quality: 'hd' })).toBe('About $0.16')
    expect(estimate({ quality: 'hd', size: '1792x1024' })).toBe('About $0.24')
    expect(estimate({ quality: '', size: '' })).toBe('Up to $0.24')
    expect(estimateImages({ ...pricing, made_image: 0.04 }, { n: 1, size: '', quality: '' })).toBe(
      'About $0.04',
    )
    expect(estimateImages(pricing, { n: 1, size: '', quality: '' })).toBeUndefined()
  })

  test('of speech counts characters, and names a minimum where tokens come on top', () => {
    expect(estimateSpeech(pricing, 'Hello')).toBeUndefined()
    const byCharacter = { ...pricing, input_characters: 15 }
    expect(estimateSpeech(byCharacter, '😀'.repeat(1000))).toBe('About $0.015')
    expect(estimateSpeech({ ...byCharacter, output: 12 }, 'a'.repeat(1000))).toBe('From $0.015')
  })

  test('of a transcript is its length', () => {
    const byTime = { ...pricing, audio_hour: 0.36 }
    expect(estimateTranscription(byTime, 90)).toBe('About $0.009')
    expect(estimateTranscription(byTime, undefined)).toBeUndefined()
  })
})
