import type { Rates, TokenRates } from './model'

/** Nano-dollars per 1,000,000 tokens of each bucket; one without a price of its own has `input`'s or `output`'s. */
export function getBucketRates(rates: Rates): Required<TokenRates> {
  const knownRates = ratesBy.get(rates)
  if (knownRates) return knownRates
  const { input, output } = rates
  const cacheWrite = rates.cacheWrite ?? input
  const bucketRates = {
    input,
    cachedInput: rates.cachedInput ?? input,
    cacheWrite,
    cacheWriteLong: rates.cacheWriteLong ?? cacheWrite,
    audioInput: rates.audioInput ?? input,
    imageInput: rates.imageInput ?? input,
    output,
    reasoning: rates.reasoning ?? output,
    audioOutput: rates.audioOutput ?? output,
    imageOutput: rates.imageOutput ?? output,
  }
  ratesBy.set(rates, bucketRates)
  return bucketRates
}

/** A model's rates are one object for as long as they stay the same. */
const ratesBy = new WeakMap<Rates, Required<TokenRates>>()
