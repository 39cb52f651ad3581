import { computeCost } from './cost'
import { selectPrice, minuteOf } from '../catalog/price-tiers'
import { roughCharacters } from './estimate'
import { computeCharge, type Paying } from './charge-ratio'
import { noUsage } from '../wire/usage'

interface Side {
  input: number
  output: number
}

/** The quantities to price: tokens, and the characters of the same texts. */
interface QuotedUsage extends Side {
  characters?: Side
  /** Images in the prompt, where the price charges them by the piece. */
  images?: number
}

/** Nano-dollars: for the input, for the output, and in total, which is rounded only once. */
export interface Quote {
  input: bigint
  output: bigint
  /** Includes the price of each request. */
  total: bigint
}

/**
 * Quotes the current charge of a request of so many tokens, none of them cached. The price of its processing time
 * is not included: it is unknown before.
 */
export function quote(paying: Paying, quotedUsage: QuotedUsage, feeMillionths: number): Quote {
  const { input, output } = quotedUsage
  const { characters = { input: roughCharacters(input), output: roughCharacters(output) } } =
    quotedUsage
  const { isFree, pricing } = paying.model
  if (isFree || !pricing) return { input: 0n, output: 0n, total: 0n }
  const chargeRatio = computeCharge(paying, feeMillionths)
  const minute = minuteOf(Date.now())
  const { rates } = selectPrice(pricing, { promptTokens: input, serviceTier: undefined, minute })
  const price = (sides: readonly (keyof Side)[], requests: number) => {
    const of = (amounts: Side, side: keyof Side) => (sides.includes(side) ? amounts[side] : 0)
    const tokens = { input: of(quotedUsage, 'input'), output: of(quotedUsage, 'output') }
    return chargeRatio.of(
      computeCost({ ...noUsage, ...tokens }, rates, {
        requests,
        images: sides.includes('input') ? (quotedUsage.images ?? 0) : 0,
        inputCharacters: of(characters, 'input'),
        outputCharacters: of(characters, 'output'),
      }),
    )
  }
  return {
    input: price(['input'], 0),
    output: price(['output'], 0),
    total: price(['input', 'output'], 1),
  }
}
