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
export function costOf(usage: Usage, pricing: Pricing, pieces: Pieces = {}): bigint {
  const rates = ratesOf(pricing)
  let millionths = 0n
  // Most buckets are empty, and large numbers are slow.
  for (const bucket of buckets) {
    const tokens = usage[bucket]
    if (tokens > 0) millionths += BigInt(tokens) * rates[bucket]
  }
  return roundedUp(millionths) + costOfPieces(pieces, pricing)
}
