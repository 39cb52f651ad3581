import { getBucketRates } from '../catalog/bucket-rates'
import type { Rates, TokenRates } from '../catalog/model'
import type { Usage } from '../wire/usage'

/** The buckets of a usage, each with its own tokens. */
export type UsageBucket = keyof TokenRates

/** Quantities that are paid beside the tokens: pieces, characters and time. */
export interface Pieces {
  /** Requests to the provider: more than one where a batch was split. */
  requests?: number
  /** Images that were sent. */
  images?: number
  /** Web searches that the provider ran. */
  searches?: number
  /** Unicode code points. */
  inputCharacters?: number | undefined
  outputCharacters?: number | undefined
  processingMs?: number | undefined
  /** Milliseconds of sound that were read. */
  audioMs?: number | undefined
  /** Images of the answer, and the pixels of all of them. */
  madeImages?: number
  madePixels?: number
}

const million = 1_000_000n

/** Converts millionths of a nano-dollar to nano-dollars, rounded up. */
export const roundUp = (millionths: bigint): bigint => (millionths + million - 1n) / million

/**
 * Rounds up a number of millionths that sums products of counts and rates, none below zero: exact, or undefined
 * where a number cannot hold the sum. Each `bigint` is an object, and nearly all sums are far below.
 */
export function roundUpNumber(millionths: number): bigint | undefined {
  // A rate, product or sum that had to be rounded is 2^53 at least, and so is all that it is part of.
  if (millionths > Number.MAX_SAFE_INTEGER) return undefined
  const rest = millionths % 1_000_000
  return BigInt((millionths - rest) / 1_000_000 + (rest > 0 ? 1 : 0))
}

/** Multiplies tokens by a rate, exactly. */
export function multiplyRate(tokens: number, rate: bigint): bigint {
  const product = tokens * Number(rate)
  return product > Number.MAX_SAFE_INTEGER ? BigInt(tokens) * rate : BigInt(product)
}

const oneRequest: Pieces = {}

/** Computes the cost of requests, images and searches, in nano-dollars. */
export function computePieceCost(pieces: Pieces, rates: Rates): bigint {
  const { request = 0n, image = 0n, search = 0n, madeImage = 0n } = rates
  if (request === 0n && image === 0n && search === 0n && madeImage === 0n) return 0n
  const { requests = 1, images = 0, searches = 0, madeImages = 0 } = pieces
  const ofPrompt = BigInt(requests) * request + BigInt(images) * image
  return ofPrompt + BigInt(searches) * search + BigInt(madeImages) * madeImage
}

const msPerHour = 3_600_000n

/** Computes the cost of sound by its time, in millionths of a nano-dollar, rounded up. */
export function costOfSound(audioMs: number, { audioHour: rate = 0n }: Rates): bigint {
  if (rate === 0n || audioMs === 0) return 0n
  return (BigInt(audioMs) * rate * million + msPerHour - 1n) / msPerHour
}

/** Computes the cost of characters, pixels and time, in millionths of a nano-dollar. */
export function costOfMeasured(measuredUnits: Pieces, rates: Rates): bigint {
  const { inputCharacters: inputRate = 0n, outputCharacters: outputRate = 0n, second = 0n } = rates
  const { madePixels = 0 } = measuredUnits
  const ofPixels = madePixels === 0 ? 0n : BigInt(madePixels) * (rates.madeMegapixel ?? 0n)
  if (inputRate === 0n && outputRate === 0n && second === 0n) return ofPixels
  const { inputCharacters = 0, outputCharacters = 0, processingMs = 0 } = measuredUnits
  const ofCharacters = BigInt(inputCharacters) * inputRate + BigInt(outputCharacters) * outputRate
  return ofPixels + ofCharacters + BigInt(processingMs) * second * 1000n
}

const buckets = [
  'input',
  'cachedInput',
  'cacheWrite',
  'cacheWriteLong',
  'audioInput',
  'imageInput',
  'output',
  'reasoning',
  'audioOutput',
  'imageOutput',
] as const satisfies readonly UsageBucket[]

/**
 * Computes a usage's cost, in nano-dollars: summed exactly, rounded up once. The caller limits a usage to what
 * its request could use (`limitUsage`) before it is charged.
 */
export function computeCost(usage: Usage, givenRates: Rates, pieces: Pieces = oneRequest): bigint {
  const rates = getBucketRates(givenRates)
  const cachedAudio = cachedAudioOf(usage, givenRates)
  const measuredCost =
    costOfMeasured(pieces, givenRates) + costOfSound(pieces.audioMs ?? 0, givenRates)
  const ofPieces = computePieceCost(pieces, givenRates)
  if (cachedAudio > 0 || measuredCost > 0n) {
    // Few usages have any of this: all others are summed as numbers.
    const rest = { ...usage, cachedInput: usage.cachedInput - cachedAudio }
    const ofCachedAudio = BigInt(cachedAudio) * (givenRates.cachedAudioInput ?? 0n)
    return roundUp(sumMillionths(rest, rates) + ofCachedAudio + measuredCost) + ofPieces
  }
  let millionths = 0
  for (const bucket of buckets) {
    if (usage[bucket] > 0) millionths += usage[bucket] * Number(rates[bucket])
  }
  const ofTokens = roundUpNumber(millionths) ?? roundUp(sumMillionths(usage, rates))
  return ofPieces === 0n ? ofTokens : ofTokens + ofPieces
}

/** Returns the tokens of cached audio that have a price of their own. */
const cachedAudioOf = ({ cachedAudio = 0, cachedInput }: Usage, { cachedAudioInput }: Rates) =>
  cachedAudioInput === undefined ? 0 : Math.min(cachedAudio, cachedInput)

function sumMillionths(usage: Usage, rates: Required<TokenRates>): bigint {
  let millionths = 0n
  for (const bucket of buckets) {
    if (usage[bucket] > 0) millionths += BigInt(usage[bucket]) * rates[bucket]
  }
  return millionths
}
