import { costOf } from './cost'
import { appliedPrice, minuteOf } from '../catalog/price-tiers'
import { chargedBy, type Paying } from './share'
import { noUsage } from '../wire/usage'

interface Tokens {
  input: number
  output: number
}

/** Nano-dollars: of what is read, of what is written, and of all, which is rounded only once. */
export interface Quote {
  input: bigint
  output: bigint
  /** With what is paid for each request. */
  total: bigint
}

/** What a request of so many tokens would be charged now, none of them cached. */
export function quote(paying: Paying, { input, output }: Tokens, feeMillionths: number): Quote {
  const { isFree, pricing } = paying.model
  if (isFree || !pricing) return { input: 0n, output: 0n, total: 0n }
  const charged = chargedBy(paying, feeMillionths)
  const minute = minuteOf(Date.now())
  const { rates } = appliedPrice(pricing, { promptTokens: input, serviceTier: undefined, minute })
  const price = (tokens: Partial<Tokens>, requests: number) =>
    charged.of(costOf({ ...noUsage, ...tokens }, rates, { requests }))
  return {
    input: price({ input }, 0),
    output: price({ output }, 0),
    total: price({ input, output }, 1),
  }
}
