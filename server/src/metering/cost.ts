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
export const ratesOf = ({ input, output, ...own }: Pricing): Readonly<Record<Bucket, bigint>> => ({
  input,
  cachedInput: own.cachedInput ?? input,
  cacheWrite: own.cacheWrite ?? input,
  audioInput: own.audioInput ?? input,
  output,
  reasoning: own.reasoning ?? output,
  audioOutput: own.audioOutput ?? output,
})

const million = 1_000_000n

/** Millionths of a nano-dollar as nano-dollars, rounded up. */
export const roundedUp = (millionths: bigint): bigint => (millionths + million - 1n) / million

/** What the pieces of a request cost, in nano-dollars. */
export const costOfPieces = (
  { requests = 1, images = 0 }: Pieces,
  { request = 0n, image = 0n }: Pricing,
): bigint => BigInt(requests) * request + BigInt(images) * image

/**
 * What a usage costs, in nano-dollars: summed exactly, rounded up once. The caller limits a usage to
 * what its request could use (`withinLimits`) before it is charged.
 */
export function costOf(usage: Usage, pricing: Pricing, pieces: Pieces = {}): bigint {
  const rates = ratesOf(pricing)
  const millionths =
    BigInt(usage.input) * rates.input +
    BigInt(usage.cachedInput) * rates.cachedInput +
    BigInt(usage.cacheWrite) * rates.cacheWrite +
    BigInt(usage.audioInput) * rates.audioInput +
    BigInt(usage.output) * rates.output +
    BigInt(usage.reasoning) * rates.reasoning +
    BigInt(usage.audioOutput) * rates.audioOutput
  return roundedUp(millionths) + costOfPieces(pieces, pricing)
}
