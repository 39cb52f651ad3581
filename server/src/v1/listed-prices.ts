import type { Model, Rates } from '../catalog/model'
import { formatDecimal, formatPlainUsd } from '../wire/usd'

/** Digits behind the point of the least price of a token: a nano-dollar for a million. */
const decimalsOfToken = 15

/** Prices of one token, or one character, of rates for a million. */
const perToken = (nanosPerMillion: bigint) => formatDecimal(nanosPerMillion, decimalsOfToken)

/** The price in lists of OpenRouter where it is not known before the call. */
const unknownPrice = '-1'

type ListedRate = readonly [rate: keyof Rates, name: string, format: (nanos: bigint) => string]

/** Rounded down: the exact price is that of an hour. */
const perSecond = (nanosPerHour: bigint) =>
  formatDecimal((nanosPerHour * 1_000_000n) / 3600n, decimalsOfToken)

/**
 * Each rate with its name in lists of OpenRouter, or in LiteLLM's table of prices where OpenRouter has none.
 * @see https://openrouter.ai/docs/client-sdks/typescript/models/publicpricing
 * @see https://docs.litellm.ai/docs/proxy/model_cost_map
 */
const listedRates: readonly ListedRate[] = [
  ['input', 'prompt', perToken],
  ['output', 'completion', perToken],
  ['cachedInput', 'input_cache_read', perToken],
  ['cachedAudioInput', 'input_audio_cache', perToken],
  ['cacheWrite', 'input_cache_write', perToken],
  ['cacheWriteLong', 'input_cache_write_1h', perToken],
  ['reasoning', 'internal_reasoning', perToken],
  ['audioInput', 'audio', perToken],
  ['audioOutput', 'audio_output', perToken],
  ['imageInput', 'image_token', perToken],
  ['imageOutput', 'output_cost_per_image_token', perToken],
  ['inputCharacters', 'input_cost_per_character', perToken],
  ['outputCharacters', 'output_cost_per_character', perToken],
  // A second of processing, which neither has: their seconds are those of sound.
  ['second', 'second', formatPlainUsd],
  ['audioHour', 'input_cost_per_second', perSecond],
  ['image', 'image', formatPlainUsd],
  ['request', 'request', formatPlainUsd],
  ['search', 'web_search', formatPlainUsd],
  ['madeImage', 'output_cost_per_image', formatPlainUsd],
  ['madeMegapixel', 'output_cost_per_pixel', perToken],
]

type PricedModel = Pick<Model, 'category' | 'pricing' | 'isFree'>

/** Shows the usual price as OpenRouter does: USD a token, or a piece, as text. */
export function toListedPrices({ category, pricing, isFree }: PricedModel): Record<string, string> {
  if (isFree) return { prompt: '0', completion: '0' }
  if (!pricing) return { prompt: unknownPrice, completion: unknownPrice }
  const prices: Record<string, string> = {}
  for (const [rate, name, format] of listedRates) {
    const price = pricing[rate]
    if (price !== undefined) prices[name] = format(price)
  }
  const { input, inputCharacters } = pricing
  // OpenRouter has no other name for the price of a character, and its clients would read zero as free.
  if (category === 'speech' && input === 0n && inputCharacters !== undefined) {
    prices['prompt'] = perToken(inputCharacters)
  }
  return prices
}
