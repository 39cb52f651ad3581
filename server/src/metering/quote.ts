import { costOf } from './cost'
import { appliedPrice, minuteOf } from '../catalog/price-tiers'
import { roughCharacters } from './estimate'
import { chargedBy, type Paying } from './share'
import { noUsage } from '../wire/usage'

interface Side {
  input: number
  output: number
}

/** What is asked for: tokens, and the characters of the same texts. */
interface Asked extends Side {
  characters?: Side
  /** Images in the prompt, where the price charges them by the piece. */
  images?: number
}

/** Nano-dollars: of what is read, of what is written, and of all, which is rounded only once. */
export interface Quote {
  input: bigint
  output: bigint
  /** With what is paid for each request. */
  total: bigint
}

/**
 * What a request of so many tokens would be charged now, none of them cached. What its time would cost is not
 * in it: nobody knows that before.
 */
export function quote(paying: Paying, asked: Asked, feeMillionths: number): Quote {
  const { input, output } = asked
  const { characters = { input: roughCharacters(input), output: roughCharacters(output) } } = asked
  const { isFree, pricing } = paying.model
  if (isFree || !pricing) return { input: 0n, output: 0n, total: 0n }
  const charged = chargedBy(paying, feeMillionths)
  const minute = minuteOf(Date.now())
  const { rates } = appliedPrice(pricing, { promptTokens: input, serviceTier: undefined, minute })
  const price = (sides: readonly (keyof Side)[], requests: number) => {
    const of = (amounts: Side, side: keyof Side) => (sides.includes(side) ? amounts[side] : 0)
    const tokens = { input: of(asked, 'input'), output: of(asked, 'output') }
    return charged.of(
      costOf({ ...noUsage, ...tokens }, rates, {
        requests,
        images: sides.includes('input') ? (asked.images ?? 0) : 0,
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
