import type { Pricing, Rates, ServiceTier } from '../catalog/model'
import { dearestRates } from '../catalog/price-tiers'
import { pricedUnits } from '../catalog/priced-units'
import { maxCharacters } from '../wire/text-size'
import {
  completionBuckets,
  completionTokens,
  promptBuckets,
  promptTokens,
  type Usage,
} from '../wire/usage'
import {
  costOfMeasured,
  costOfPieces,
  ratesOf,
  roundedUp,
  roundedUpNumber,
  times,
  type Bucket,
} from './cost'

/** The most that a request can make a model read and write; from `volume.ts`. */
export interface Volume {
  /** Tokens of all prompts together. */
  inputTokens: number
  /** Tokens of the longest of them, which decides on prices by length. */
  longestPrompt: number
  /** What the request asks for; undefined for the ordinary one. */
  serviceTier: ServiceTier | undefined
  /** Answers, of which each may be as long as the output limit. */
  choices: number
  /** The limit that was asked for, else the one that the model has. */
  outputLimit: number
  /** Output that is billed on top of the answers, whatever their limit. */
  extraOutputTokens: number
  /** Sound may be read, or written. */
  hears: boolean
  speaks: boolean
  /** What is paid per piece. */
  images: number
  requests: number
  /** Web searches of the provider's, at most. */
  searches: number
  /** Unicode code points of the prompt's texts, where the price charges them. */
  inputCharacters?: number
  /** Processing until the deadlines of all requests to the provider, where the price charges it. */
  maxProcessingMs?: number
}

/** The price of a volume as a line: `fixed` + output limit x `perToken`. */
export interface WorstCase {
  volume: Volume
  /** Millionths of a nano-dollar, exact: prompt, extra output and pieces. */
  fixed: bigint
  /** The same for one more token of the output limit, in all answers together. */
  perToken: bigint
}

const dearest = (...rates: readonly bigint[]) => rates.reduce((a, b) => (a > b ? a : b))

interface SideRates {
  input: bigint
  output: bigint
}

const sidesBy = new WeakMap<Rates, SideRates>()

/** The dearest rates of what has no sound in it. */
function soundlessRates(given: Rates): SideRates {
  const known = sidesBy.get(given)
  if (known) return known
  const rates = ratesOf(given)
  const { input, cachedInput, cacheWrite, cacheWriteLong, imageInput } = rates
  const sides = {
    input: dearest(input, cachedInput, cacheWrite, cacheWriteLong, imageInput),
    output: dearest(rates.output, rates.reasoning, rates.imageOutput),
  }
  sidesBy.set(given, sides)
  return sides
}

/**
 * Each side at the dearest of the rates that can apply to it: no usage within `volume` costs more.
 * `minute` is the one of the UTC day in which the request begins.
 */
export function worstCase(volume: Volume, pricing: Pricing, minute: number): WorstCase {
  const { longestPrompt: promptTokens, serviceTier } = volume
  const rates = dearestRates(pricing, { promptTokens, serviceTier, minute })
  const { audioInput, audioOutput } = ratesOf(rates)
  const { cachedAudioInput = audioInput } = rates
  const text = soundlessRates(rates)
  const inputRate = volume.hears ? dearest(text.input, audioInput, cachedAudioInput) : text.input
  const outputRate = volume.speaks ? dearest(text.output, audioOutput) : text.output
  let fixed = times(volume.inputTokens, inputRate)
  if (volume.extraOutputTokens > 0) fixed += times(volume.extraOutputTokens, outputRate)
  const pieces = costOfPieces(volume, rates)
  if (pieces > 0n) fixed += pieces * 1_000_000n
  const perToken = volume.choices === 1 ? outputRate : times(volume.choices, outputRate)
  return pricedUnits(pricing)
    ? withUnits({ volume, fixed, perToken }, rates)
    : { volume, fixed, perToken }
}

/** The same with the most characters of each token, and with all the time until the deadline. */
function withUnits({ volume, fixed, perToken }: WorstCase, rates: Rates): WorstCase {
  const { choices, extraOutputTokens, inputCharacters, maxProcessingMs } = volume
  const before = {
    inputCharacters,
    outputCharacters: maxCharacters(extraOutputTokens),
    processingMs: maxProcessingMs,
  }
  return {
    volume,
    fixed: fixed + costOfMeasured(before, rates),
    perToken: perToken + costOfMeasured({ outputCharacters: maxCharacters(choices) }, rates),
  }
}

/** What the request costs at most under an output limit, in nano-dollars. */
export const priceAt = ({ fixed, perToken }: WorstCase, outputLimit: number): bigint =>
  roundedUpNumber(Number(fixed) + outputLimit * Number(perToken)) ??
  roundedUp(fixed + BigInt(outputLimit) * perToken)

/** *w*: the hold of a request whose payer has enough. */
export const fullPrice = (worst: WorstCase): bigint => priceAt(worst, worst.volume.outputLimit)

/** Output that is always granted, or the request is refused: min(asked, 256). */
export const floorOf = ({ volume }: WorstCase): number => Math.min(volume.outputLimit, 256)

/** The smallest hold: the price at the floor. */
export const floorPrice = (worst: WorstCase): bigint => priceAt(worst, floorOf(worst))

/**
 * The highest output limit that `available` nano-dollars pay for, never above what was asked;
 * undefined where they do not even pay for the floor.
 */
export function affordableLimit(worst: WorstCase, available: bigint): number | undefined {
  if (available < floorPrice(worst)) return undefined
  if (available >= fullPrice(worst)) return worst.volume.outputLimit
  // Below the full price, so a token has a price.
  return Number((available * 1_000_000n - worst.fixed) / worst.perToken)
}

/** What an answer to a request can have used at most. */
export interface TokenLimits {
  input: number
  output: number
  hears: boolean
  speaks: boolean
}

export const limitsAt = (
  { inputTokens, choices, extraOutputTokens, hears, speaks }: Volume,
  outputLimit: number,
): TokenLimits => ({
  input: inputTokens,
  output: choices * outputLimit + extraOutputTokens,
  hears,
  speaks,
})

/**
 * A usage without what its request cannot have used: it costs no more than its limits do. One that had
 * to be changed is `flawed`, unless it was our own estimate.
 */
export function withinLimits(usage: Usage, limits: TokenLimits): Usage {
  if (isWithin(usage, limits)) return usage
  const limited = { ...usage }
  if (!limits.hears) {
    move(limited, 'audioInput', 'input')
    delete limited.cachedAudio
  }
  if (!limits.speaks) move(limited, 'audioOutput', 'output')
  fill(limited, promptBuckets, limits.input)
  fill(limited, completionBuckets, limits.output)
  limited.flawed = usage.flawed || !usage.estimated
  return limited
}

const isWithin = (usage: Usage, { input, output, hears, speaks }: TokenLimits): boolean =>
  (hears || (usage.audioInput === 0 && !usage.cachedAudio)) &&
  (speaks || usage.audioOutput === 0) &&
  promptTokens(usage) <= input &&
  completionTokens(usage) <= output

function move(usage: Usage, from: Bucket, to: Bucket): void {
  usage[to] += usage[from]
  usage[from] = 0
}

function fill(usage: Usage, buckets: readonly Bucket[], most: number): void {
  let room = most
  for (const name of buckets) {
    usage[name] = Math.min(usage[name], room)
    room -= usage[name]
  }
}
