import type { Pricing } from '../catalog/model'
import type { Usage } from '../wire/usage'

/** The buckets of a usage, each with tokens of its own. */
export type Bucket = Exclude<keyof Usage, 'estimated' | 'flawed'>

/** What is paid per piece beside the tokens. */
export interface Pieces {
  /** Requests to the provider: more than one where a batch was split. */
  requests?: number
  /** Images that were sent. */
  images?: number
}

/** Nano-dollars per 1,000,000 tokens of each bucket; one without a price of its own has `input`'s or `output`'s. */
export function ratesOf(pricing: Pricing): Readonly<Record<Bucket, bigint>> {
  const known = ratesBy.get(pricing)
  if (known) return known
  const { input, output, ...own } = pricing
  const rates = {
    input,
    cachedInput: own.cachedInput ?? input,
    cacheWrite: own.cacheWrite ?? input,
    audioInput: own.audioInput ?? input,
    output,
    reasoning: own.reasoning ?? output,
    audioOutput: own.audioOutput ?? output,
  }
  ratesBy.set(pricing, rates)
  return rates
}

/** A model's pricing is one object for as long as it stays the same. */
const ratesBy = new WeakMap<Pricing, Readonly<Record<Bucket, bigint>>>()

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

/** What the pieces of a request cost, in nano-dollars. */
export function costOfPieces({ requests = 1, images = 0 }: Pieces, pricing: Pricing): bigint {
  const { request = 0n, image = 0n } = pricing
  if (request === 0n && image === 0n) return 0n
  return BigInt(requests) * request + BigInt(images) * image
}

const buckets = [
  'input',
  'cachedInput',
  'cacheWrite',
  'audioInput',
  'output',
  'reasoning',
  'audioOutput',
] as const satisfies readonly Bucket[]

/**
 * What a usage costs, in nano-dollars: summed exactly, rounded up once. The caller limits a usage to
 * what its request could use (`withinLimits`) before it is charged.
 */
export function costOf(usage: Usage, pricing: Pricing, pieces: Pieces = oneRequest): bigint {
  const rates = ratesOf(pricing)
  let millionths = 0
  for (const bucket of buckets) {
    if (usage[bucket] > 0) millionths += usage[bucket] * Number(rates[bucket])
  }
  const ofTokens = roundedUpNumber(millionths) ?? exactCost(usage, rates)
  const ofPieces = costOfPieces(pieces, pricing)
  return ofPieces === 0n ? ofTokens : ofTokens + ofPieces
}

function exactCost(usage: Usage, rates: Readonly<Record<Bucket, bigint>>): bigint {
  let millionths = 0n
  for (const bucket of buckets) {
    if (usage[bucket] > 0) millionths += BigInt(usage[bucket]) * rates[bucket]
  }
  return roundedUp(millionths)
}
