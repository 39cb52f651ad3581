import { expect, test } from 'bun:test'
import { costAt, selectUsagePrice } from './applied-price'
import { boundSpeech, estimateSpeech } from './speech-volume'
import { computeWorstCase, fullPrice, limitsAt, limitUsage } from './worst-case'
import { loadBuiltInModels } from '../catalog/built-in'
import { providers } from '../providers/registry'
import { charactersOf } from '../wire/text-size'
import { noUsage } from '../wire/usage'

/** USD for 1,000,000 characters, or for 1,000,000 tokens of text and of sound, as their makers publish them. */
const published: readonly (readonly [string, string, { characters: number } | [number, number]])[] =
  [
    ['openai/tts-1', '2026-12-01', { characters: 15 }],
    ['openai/tts-1-hd', '2026-12-01', { characters: 30 }],
    ['openai/gpt-4o-mini-tts', '2026-12-01', [0.6, 12]],
    ['openai/gpt-4o-mini-tts-2025-12-15', '2026-12-01', [0.6, 12]],
    ['google/gemini-3.8-flash-tts', '2026-12-31', [0.5, 9]],
    ['google/gemini-3.8-flash-tts', '2027-01-01', [1, 18]],
    ['google/gemini-3.8-flash-lite-tts', '2026-12-31', [0.5, 6]],
    ['google/gemini-3.8-flash-lite-tts', '2027-01-01', [1, 12]],
    ['groq/canopylabs/orpheus-v1-english', '2026-12-01', { characters: 22 }],
    ['groq/canopylabs/orpheus-arabic-saudi', '2026-12-01', { characters: 40 }],
    ['elevenlabs/eleven_v4', '2026-12-01', { characters: 80 }],
    ['elevenlabs/eleven_v4_turbo', '2026-12-01', { characters: 40 }],
    ['elevenlabs/eleven_v3', '2026-12-01', { characters: 80 }],
    ['elevenlabs/eleven_multilingual_v2', '2026-12-01', { characters: 80 }],
    ['elevenlabs/eleven_flash_v2_5', '2026-12-01', { characters: 40 }],
    ['elevenlabs/eleven_turbo_v2_5', '2026-12-01', { characters: 40 }],
  ]

const texts = ['A', 'Good morning to all of you.', '早上好,朋友', 'Hi 👋🏽', 'word '.repeat(400)]
const minute = 720

const modelOn = (id: string, day: string) => {
  const models = loadBuiltInModels(providers, new Date(day))
  const model = models.find((one) => one.id === id)
  if (!model?.pricing) throw new Error(`${id} has no price on ${day}`)
  return { ...model, pricing: model.pricing }
}

test.each(published)(
  '%s costs its published price on %s, and never more than its hold',
  (...row) => {
    const [id, day, price] = row
    const model = modelOn(id, day)
    for (const input of texts) {
      const bounds = boundSpeech({ input }, model)
      const volume = { ...bounds, inputCharacters: charactersOf(input) }
      const spoken = { ...noUsage, input: 7, audioOutput: 251 }
      const usage = limitUsage(
        { ...('characters' in price ? noUsage : spoken), inputCharacters: charactersOf(input) },
        limitsAt(volume, 0),
      )
      const due =
        'characters' in price
          ? BigInt(charactersOf(input)) * BigInt(price.characters * 1000)
          : BigInt(7 * price[0] * 1000) + BigInt(251 * price[1] * 1000)
      const cost = costAt(usage, selectUsagePrice(usage, { ...model, minute, volume }), volume)
      expect(cost).toBe(due)
      expect(fullPrice(computeWorstCase(volume, model.pricing, minute))).toBeGreaterThanOrEqual(
        cost,
      )
    }
  },
)

test('the hold is the longest sound of a text, or the limit of its model', () => {
  const unlimited = { maxOutputTokens: null }
  expect(boundSpeech({ input: 'a'.repeat(80) }, unlimited).extraOutputTokens).toBe(50 * 25)
  expect(boundSpeech({ input: '早'.repeat(20) }, unlimited).extraOutputTokens).toBe(40 * 25)
  expect(boundSpeech({ input: 'a'.repeat(80), speed: 0.5 }, unlimited)).toMatchObject({
    extraOutputTokens: 90 * 25,
  })
  expect(boundSpeech({ input: 'a'.repeat(80), speed: 4 }, unlimited)).toMatchObject({
    extraOutputTokens: 50 * 25,
  })
  const limited = boundSpeech({ input: 'a'.repeat(80) }, { maxOutputTokens: 100 })
  expect(limited).toMatchObject({ extraOutputTokens: 100, choices: 0, outputsAudio: true })
})

test.each([
  ['pcm', 48_000],
  ['wav', 48_000],
  ['mp3', 16_000],
  ['aac', 8000],
  ['opus', 4000],
  ['flac', 24_000],
] as const)('a second of %s is estimated as 25 tokens', (format, bytes) => {
  expect(estimateSpeech({ input: 'a' }, { format, bytes })).toMatchObject({
    audioOutput: 25,
    estimated: true,
  })
})
