import type { Rates, TokenRates } from '../catalog/model'
import type { Usage } from '../wire/usage'

/** The buckets of a usage, each with tokens of its own. */
export type Bucket = keyof TokenRates

/** What is paid beside the tokens: pieces, characters and time. */
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
}

/** Nano-dollars per 1,000,000 tokens of each bucket; one without a price of its own has `input`'s or `output`'s. */
export function ratesOf(given: Rates): Required<TokenRates> {
  const known = ratesBy.get(given)
  if (known) return known
  const { input, output } = given
  const cacheWrite = given.cacheWrite ?? input
  const rates = {
    input,
    cachedInput: given.cachedInput ?? input,
    cacheWrite,
    cacheWriteLong: given.cacheWriteLong ?? cacheWrite,
    audioInput: given.audioInput ?? input,
    imageInput: given.imageInput ?? input,
    output,
    reasoning: given.reasoning ?? output,
    audioOutput: given.audioOutput ?? output,
    imageOutput: given.imageOutput ?? output,
  }
  ratesBy.set(given, rates)
  return rates
}

/** A model's rates are one object for as long as they stay the same. */
const ratesBy = new WeakMap<Rates, Required<TokenRates>>()

const million = 1_000_000n

/** Millionths of a nano-dollar as nano-dollars, rounded up. */
export const roundedUp = (millionths: bigint): bigint => (millionths + million - 1n) / million

/**
 * The same of a number that sums products of counts and rates, none below zero: exact, or undefined where
 * that is more than a number holds. Each `bigint` is an object, and nearly all sums are far below.
 */
export function roundedUpNumber(millionths: number): bigint | undefined {
  // A rate, product or sum that had to be rounded is 2^53 at least, and so is all that it is part of.
  if (millionths > Number.MAX_SAFE_INTEGER) return undefined
  const rest = millionths % 1_000_000
  return BigInt((millionths - rest) / 1_000_000 + (rest > 0 ? 1 : 0))
}

/** Tokens at a rate, exact. */
export function times(tokens: number, rate: bigint): bigint {
  const product = tokens * Number(rate)
  return product > Number.MAX_SAFE_INTEGER ? BigInt(tokens) * rate : BigInt(product)
}

const oneRequest: Pieces = {}

/** What its requests, images and searches cost, in nano-dollars. */
export function costOfPieces(pieces: Pieces, rates: Rates): bigint {
  const { request = 0n, image = 0n, search = 0n } = rates
  if (request === 0n && image === 0n && search === 0n) return 0n
  const { requests = 1, images = 0, searches = 0 } = pieces
  return BigInt(requests) * request + BigInt(images) * image + BigInt(searches) * search
}

/** What its characters and its time cost, in millionths of a nano-dollar. */
export function costOfMeasured(measured: Pieces, rates: Rates): bigint {
  const { inputCharacters: read = 0n, outputCharacters: written = 0n, second = 0n } = rates
  if (read === 0n && written === 0n && second === 0n) return 0n
  const { inputCharacters = 0, outputCharacters = 0, processingMs = 0 } = measured
  const ofCharacters = BigInt(inputCharacters) * read + BigInt(outputCharacters) * written
  return ofCharacters + BigInt(processingMs) * second * 1000n
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
] as const satisfies readonly Bucket[]

/**
 * What a usage costs, in nano-dollars: summed exactly, rounded up once. The caller limits a usage to
 * what its request could use (`withinLimits`) before it is charged.
 */
export function costOf(usage: Usage, given: Rates, pieces: Pieces = oneRequest): bigint {
  const rates = ratesOf(given)
  const heard = heardBefore(usage, given)
  const measured = costOfMeasured(pieces, given)
  const ofPieces = costOfPieces(pieces, given)
  if (heard > 0 || measured > 0n) {
    // Few usages have any of this: all others are summed as numbers.
    const rest = { ...usage, cachedInput: usage.cachedInput - heard }
    const ofHeard = BigInt(heard) * (given.cachedAudioInput ?? 0n)
    return roundedUp(millionthsOf(rest, rates) + ofHeard + measured) + ofPieces
  }
  let millionths = 0
  for (const bucket of buckets) {
    if (usage[bucket] > 0) millionths += usage[bucket] * Number(rates[bucket])
  }
  const ofTokens = roundedUpNumber(millionths) ?? roundedUp(millionthsOf(usage, rates))
  return ofPieces === 0n ? ofTokens : ofTokens + ofPieces
}

/** The tokens of sound from a cache that have a price of their own. */
const heardBefore = ({ cachedAudio = 0, cachedInput }: Usage, { cachedAudioInput }: Rates) =>
  cachedAudioInput === undefined ? 0 : Math.min(cachedAudio, cachedInput)

function millionthsOf(usage: Usage, rates: Required<TokenRates>): bigint {
  let millionths = 0n
  for (const bucket of buckets) {
    if (usage[bucket] > 0) millionths += BigInt(usage[bucket]) * rates[bucket]
  }
  return millionths
}
