import { getBucketRates } from '../catalog/bucket-rates'
import type { Pricing, Rates, ServiceTier } from '../catalog/model'
import { getHighestRates, type MadeImages } from '../catalog/price-tiers'
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
  costOfSound,
  computePieceCost,
  roundUp,
  roundUpNumber,
  multiplyRate,
  type UsageBucket,
} from './cost'

/** Bounds of the tokens that a request can make a model read and write; from `volume.ts`. */
export interface TokenBounds {
  /** The tokens of all prompts together. */
  inputTokens: number
  /** The tokens that the bytes of the prompts allow, where `inputTokens` is a closer bound. */
  inputTokensByBytes?: number
  /** The tokens of the longest prompt, which decides on prices by length. */
  maxPromptTokens: number
  /** The requested tier; undefined for the ordinary one. */
  serviceTier: ServiceTier | undefined
  /** The number of answers; each may be as long as the output limit. */
  choices: number
  /** The caller's limit, else the model's own. */
  outputLimit: number
  /** Output that is billed beside the answers, whatever their limit. */
  extraOutputTokens: number
  /** Whether audio may be read, or written. */
  inputsAudio: boolean
  outputsAudio: boolean
  /** Quantities that are charged per piece. */
  images: number
  requests: number
  /** The most web searches that the provider may run, or search units of a ranking. */
  searches: number
  /** Unicode code points of the prompt's texts, where the price charges them. */
  inputCharacters?: number
  /** Processing time until the deadlines of all requests to the provider, where the price charges it. */
  maxProcessingMs?: number
  /** Milliseconds of the sound that is read by its time. */
  audioMs?: number
  /** Images that the answer may have; absent for requests that make none. */
  imageBounds?: MadeBounds
}

/** Bounds of the images that a request can make. */
export interface MadeBounds extends MadeImages {
  images: number
}

/** The price of a volume as a linear function: `fixedPrice` + output limit x `perToken`. */
export interface WorstCase {
  volume: TokenBounds
  /** Millionths of a nano-dollar, exact: prompt, extra output and pieces. */
  fixedPrice: bigint
  /** The price of one more token of the output limit, in all answers together. */
  perToken: bigint
}

const dearest = (...rates: readonly bigint[]) => rates.reduce((a, b) => (a > b ? a : b))

interface SideRates {
  input: bigint
  output: bigint
}

const sidesBy = new WeakMap<Rates, SideRates>()

/** Returns the highest rates of content without audio. */
function soundlessRates(givenRates: Rates): SideRates {
  const knownSides = sidesBy.get(givenRates)
  if (knownSides) return knownSides
  const rates = getBucketRates(givenRates)
  const { input, cachedInput, cacheWrite, cacheWriteLong, imageInput } = rates
  const sides = {
    input: dearest(input, cachedInput, cacheWrite, cacheWriteLong, imageInput),
    output: dearest(rates.output, rates.reasoning, rates.imageOutput),
  }
  sidesBy.set(givenRates, sides)
  return sides
}

/**
 * Computes the worst case with each side at the highest rate that can apply to it: no usage within `volume` costs
 * more. `minute` is the one of the UTC day in which the request begins.
 */
export function computeWorstCase(volume: TokenBounds, pricing: Pricing, minute: number): WorstCase {
  const { maxPromptTokens: promptTokens, serviceTier, imageBounds } = volume
  const rates = getHighestRates(pricing, { promptTokens, serviceTier, minute, image: imageBounds })
  const { audioInput, audioOutput } = getBucketRates(rates)
  const { cachedAudioInput = audioInput } = rates
  const text = soundlessRates(rates)
  const inputRate = volume.inputsAudio
    ? dearest(text.input, audioInput, cachedAudioInput)
    : text.input
  const outputRate = volume.outputsAudio ? dearest(text.output, audioOutput) : text.output
  let fixedPrice = multiplyRate(volume.inputTokens, inputRate)
  if (volume.extraOutputTokens > 0) fixedPrice += multiplyRate(volume.extraOutputTokens, outputRate)
  const pieces = computePieceCost(volume, rates)
  if (pieces > 0n) fixedPrice += pieces * 1_000_000n
  if (volume.audioMs !== undefined) fixedPrice += costOfSound(volume.audioMs, rates)
  if (imageBounds) fixedPrice += priceOfMade(imageBounds, rates)
  const perToken = volume.choices === 1 ? outputRate : multiplyRate(volume.choices, outputRate)
  return pricedUnits(pricing)
    ? withUnits({ volume, fixedPrice, perToken }, rates)
    : { volume, fixedPrice, perToken }
}

/** Returns millionths of a nano-dollar. */
const priceOfMade = ({ images, pixels }: MadeBounds, rates: Rates): bigint =>
  computePieceCost({ madeImages: images, requests: 0 }, rates) * 1_000_000n +
  costOfMeasured({ madePixels: images * pixels }, rates)

/** Adds the most characters of each token, and all the time until the deadline. */
function withUnits({ volume, fixedPrice, perToken }: WorstCase, rates: Rates): WorstCase {
  const { choices, extraOutputTokens, inputCharacters, maxProcessingMs } = volume
  const before = {
    inputCharacters,
    outputCharacters: maxCharacters(extraOutputTokens),
    processingMs: maxProcessingMs,
  }
  return {
    volume,
    fixedPrice: fixedPrice + costOfMeasured(before, rates),
    perToken: perToken + costOfMeasured({ outputCharacters: maxCharacters(choices) }, rates),
  }
}

/** Returns the most that the request costs under an output limit, in nano-dollars. */
export const priceAt = ({ fixedPrice, perToken }: WorstCase, outputLimit: number): bigint =>
  roundUpNumber(Number(fixedPrice) + outputLimit * Number(perToken)) ??
  roundUp(fixedPrice + BigInt(outputLimit) * perToken)

/** w*: returns the hold of a request whose payer has enough. */
export const fullPrice = (worst: WorstCase): bigint => priceAt(worst, worst.volume.outputLimit)

/** Returns the output that is always granted, or the request is refused: min(asked, 256). */
export const floorOf = ({ volume }: Pick<WorstCase, 'volume'>): number =>
  Math.min(volume.outputLimit, 256)

/** Returns the smallest hold: the price at the floor. */
export const floorPrice = (worst: WorstCase): bigint => priceAt(worst, floorOf(worst))

/**
 * Returns the highest output limit that `available` nano-dollars pay for, never above the requested one;
 * undefined where they do not even pay for the floor.
 */
export function computeAffordableLimit(worst: WorstCase, available: bigint): number | undefined {
  if (available < floorPrice(worst)) return undefined
  if (available >= fullPrice(worst)) return worst.volume.outputLimit
  // Below the full price, so a token has a price.
  return Number((available * 1_000_000n - worst.fixedPrice) / worst.perToken)
}

/** Returns the tokens that a request uses at most under an output limit. */
export const tokensAt = (
  { inputTokens, choices, extraOutputTokens }: TokenBounds,
  outputLimit: number,
): bigint => BigInt(inputTokens + choices * outputLimit + extraOutputTokens)

/** Returns the fewest tokens that are held for a request: those at the floor. */
export const floorTokens = (volume: TokenBounds): bigint => tokensAt(volume, floorOf({ volume }))

/** The most that an answer to a request can have used. */
export interface TokenLimits {
  input: number
  output: number
  inputsAudio: boolean
  outputsAudio: boolean
}

export const limitsAt = (
  { inputTokens, choices, extraOutputTokens, inputsAudio, outputsAudio }: TokenBounds,
  outputLimit: number,
): TokenLimits => ({
  input: inputTokens,
  output: choices * outputLimit + extraOutputTokens,
  inputsAudio,
  outputsAudio,
})

/**
 * Limits a usage to what its request can have used: it costs no more than its limits do. A changed usage is
 * `flawed`, unless it was the platform's own estimate.
 */
export function limitUsage(usage: Usage, limits: TokenLimits): Usage {
  if (isWithin(usage, limits)) return usage
  const limitedUsage = { ...usage }
  if (!limits.inputsAudio) {
    move(limitedUsage, 'audioInput', 'input')
    delete limitedUsage.cachedAudio
  }
  if (!limits.outputsAudio) move(limitedUsage, 'audioOutput', 'output')
  fill(limitedUsage, promptBuckets, limits.input)
  fill(limitedUsage, completionBuckets, limits.output)
  limitedUsage.flawed = usage.flawed || !usage.estimated
  return limitedUsage
}

const isWithin = (
  usage: Usage,
  { input, output, inputsAudio, outputsAudio }: TokenLimits,
): boolean =>
  (inputsAudio || (usage.audioInput === 0 && !usage.cachedAudio)) &&
  (outputsAudio || usage.audioOutput === 0) &&
  promptTokens(usage) <= input &&
  completionTokens(usage) <= output

function move(usage: Usage, from: UsageBucket, to: UsageBucket): void {
  usage[to] += usage[from]
  usage[from] = 0
}

function fill(usage: Usage, buckets: readonly UsageBucket[], limit: number): void {
  let room = limit
  for (const name of buckets) {
    usage[name] = Math.min(usage[name], room)
    room -= usage[name]
  }
}
