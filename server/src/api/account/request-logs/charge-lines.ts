import { z } from 'zod'
import { getBucketRates } from '../../../catalog/bucket-rates'
import { readChargedPrice } from '../../../catalog/charged-price'
import { rateFields } from '../../../catalog/pricing-fields'
import type { Rates } from '../../../catalog/model'
import { toUsd } from '../../../wire/usd'

const usd = z.number().describe('USD')

/** The amounts by rate of a request in an answer. */
export const ChargeLines = z
  .array(
    z.object({
      rate: z.string().describe('The rate, by its name in `pricing`'),
      quantity: z
        .number()
        .describe('Tokens, characters, milliseconds or pieces that the rate counts'),
      price: usd.describe('USD of the rate'),
      amount: usd.describe('USD: `quantity` at `price`, not rounded'),
    }),
  )
  .nullable()

/** The columns of a usage event that its charge is computed from. */
export interface ChargedRow {
  pricing: unknown
  /** Nano-dollars. */
  charged: bigint
  input_tokens: bigint
  cached_input_tokens: bigint
  cache_write_tokens: bigint
  /** A part of `cache_write_tokens`, as the next two are of input and output. */
  cache_write_1h_tokens: bigint | null
  image_input_tokens: bigint | null
  image_output_tokens: bigint | null
  output_tokens: bigint
  reasoning_tokens: bigint
  audio_input_tokens: bigint
  audio_output_tokens: bigint
  searches: bigint | null
  input_characters: bigint | null
  output_characters: bigint | null
  processing_ms: bigint | null
  audio_ms: bigint | null
}

interface ChargeLine {
  rate: keyof Rates
  quantity: bigint
  /** Nano-dollars. */
  price: bigint
  /** Millionths of a nano-dollar. */
  amount: bigint
}

const million = 1_000_000n
const msPerSecond = 1000n
const msPerHour = 3_600_000n

function listQuantities(row: ChargedRow) {
  const longWrites = row.cache_write_1h_tokens ?? 0n
  const inputImages = row.image_input_tokens ?? 0n
  const outputImages = row.image_output_tokens ?? 0n
  return {
    input: row.input_tokens - inputImages,
    cachedInput: row.cached_input_tokens,
    cacheWrite: row.cache_write_tokens - longWrites,
    cacheWriteLong: longWrites,
    audioInput: row.audio_input_tokens,
    imageInput: inputImages,
    output: row.output_tokens - outputImages,
    reasoning: row.reasoning_tokens,
    audioOutput: row.audio_output_tokens,
    imageOutput: outputImages,
  }
}

/** Lists the amounts that are counted in tokens, and in what Tollgate measures. */
function listLines(row: ChargedRow, rates: Rates): ChargeLine[] {
  const bucketRates = getBucketRates(rates)
  const lines: ChargeLine[] = []
  const add = (rate: keyof Rates, quantity: bigint, per: { price: bigint; millionths: bigint }) => {
    if (quantity > 0n && per.price > 0n)
      lines.push({ rate, quantity, price: per.price, amount: quantity * per.millionths })
  }
  const quantities = listQuantities(row)
  let bucket: keyof typeof quantities
  for (bucket in quantities) {
    const price = bucketRates[bucket]
    add(bucket, quantities[bucket], { price, millionths: price })
  }
  const { inputCharacters = 0n, outputCharacters = 0n, second = 0n, audioHour = 0n } = rates
  const ofInput = { price: inputCharacters, millionths: inputCharacters }
  const ofOutput = { price: outputCharacters, millionths: outputCharacters }
  add('inputCharacters', row.input_characters ?? 0n, ofInput)
  add('outputCharacters', row.output_characters ?? 0n, ofOutput)
  const perMs = { price: second, millionths: second * msPerSecond }
  add('second', row.processing_ms ?? 0n, perMs)
  const audioMs = row.audio_ms ?? 0n
  if (audioMs > 0n && audioHour > 0n) {
    const amount = (audioMs * audioHour * million + msPerHour - 1n) / msPerHour
    lines.push({ rate: 'audioHour', quantity: audioMs, price: audioHour, amount })
  }
  const { search = 0n, request = 0n } = rates
  add('search', row.searches ?? 0n, { price: search, millionths: search * million })
  add('request', 1n, { price: request, millionths: request * million })
  return lines
}

const picosPerUsd = 1e15

/**
 * Lists quantity, price and amount of each rate that an attempt was charged by; null where they do not add up to its
 * charge, such as a fee for a provider's own bill, or a charge by quantities that no usage event has.
 */
export function toChargeLines(row: ChargedRow): z.output<typeof ChargeLines> {
  const stored = readChargedPrice(row.pricing)?.rates
  if (!stored || row.charged === 0n) return null
  const rates: Rates = { ...stored, input: stored.input ?? 0n, output: stored.output ?? 0n }
  const lines = listLines(row, rates)
  const total = lines.reduce((sum, { amount }) => sum + amount, 0n)
  if ((total + million - 1n) / million !== row.charged) return null
  return lines.map(({ rate, quantity, price, amount }) => ({
    rate: rateFields[rate],
    quantity: Number(quantity),
    price: toUsd(price),
    amount: Number(amount) / picosPerUsd,
  }))
}
