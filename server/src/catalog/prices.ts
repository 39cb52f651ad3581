import type { Pricing } from './model'
import { pricesAt } from './price-data'

/** A price of the package: USD, or USD by length of the prompt. */
type Price = number | { base: number; tiers: readonly { price: number }[] } | undefined

/**
 * What a model costs a platform connection at one moment, in nano-dollars (`Pricing`). Prices by
 * length of prompt become their dearest tier, prices by date or hour the one valid at `at`. Null
 * where the price data do not know the model, or know no token price of it. Never throws.
 *
 * @param pricesId the provider's id in `@pydantic/genai-prices`; null has no prices
 */
export function priceOf(pricesId: string | null, upstreamModel: string, at: Date): Pricing | null {
  const prices = pricesId === null ? undefined : pricesAt(pricesId, upstreamModel, at)
  if (!prices) return null
  const input = toNanos(prices['input_mtok'])
  if (input === undefined) {
    // The data hold free models as models without prices, but other unpriced ones as well.
    const free = Object.keys(prices).length === 0 && upstreamModel.endsWith(':free')
    return free ? { input: 0n, output: 0n } : null
  }
  return {
    input,
    // Embedding models have no output.
    output: toNanos(prices['output_mtok']) ?? 0n,
    ...optional('cachedInput', toNanos(prices['cache_read_mtok'])),
    ...optional('cacheWrite', toNanos(prices['cache_write_mtok'])),
    ...optional('reasoning', toNanos(prices['output_reasoning_mtok'])),
    ...optional('audioInput', toNanos(prices['input_audio_mtok'])),
    ...optional('audioOutput', toNanos(prices['output_audio_mtok'])),
    ...optional('request', perThousand(toNanos(prices['requests_kcount']))),
  }
}

const optional = (name: keyof Pricing, value: bigint | undefined): Partial<Pricing> =>
  value === undefined ? {} : { [name]: value }

// A piece is far above a nano-dollar, so nothing is lost.
const perThousand = (nanos: bigint | undefined) => (nanos === undefined ? undefined : nanos / 1000n)

function toNanos(price: Price): bigint | undefined {
  if (price === undefined) return undefined
  const usd =
    typeof price === 'number'
      ? price
      : Math.max(price.base, ...price.tiers.map((tier) => tier.price))
  return Number.isFinite(usd) && usd >= 0 ? nanosOf(usd) : undefined
}

/**
 * USD as nano-dollars, from the decimal digits a number was written with: 0.15 is 150000000n, where
 * multiplying would round in binary. Digits behind the ninth are rounded, half up.
 */
export function nanosOf(usd: number): bigint {
  const [whole = '0', fraction = ''] = plainDecimal(usd).split('.')
  const digits = fraction.padEnd(10, '0')
  const nanos = BigInt(whole + digits.slice(0, 9))
  return digits.charAt(9) >= '5' ? nanos + 1n : nanos
}

/** The shortest digits that make this number, without an exponent. */
function plainDecimal(value: number): string {
  const [mantissa = '0', exponent] = String(value).split('e')
  if (exponent === undefined) return mantissa
  const [whole = '0', fraction = ''] = mantissa.split('.')
  const shift = Number(exponent)
  if (shift < 0) return `0.${'0'.repeat(-shift - 1)}${whole}${fraction}`
  return (whole + fraction).padEnd(shift + whole.length, '0')
}
