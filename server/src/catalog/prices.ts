import type { PriceTier, Pricing, Rates } from './model'
import { pricesAt } from './price-data'

/** A price of the package: USD, or USD by length of the prompt: of more tokens than `start`. */
type Price = number | TieredPrice | undefined
interface TieredPrice {
  base: number
  tiers: readonly { start: number; price: number }[]
}

/** The package's name of each rate. Its prices by the piece are of a thousand. */
const rateNames = {
  input: 'input_mtok',
  output: 'output_mtok',
  cachedInput: 'cache_read_mtok',
  cacheWrite: 'cache_write_mtok',
  cacheWriteLong: 'cache_write_1h_mtok',
  reasoning: 'output_reasoning_mtok',
  audioInput: 'input_audio_mtok',
  audioOutput: 'output_audio_mtok',
  imageInput: 'input_image_mtok',
  imageOutput: 'output_image_mtok',
  request: 'requests_kcount',
  search: 'web_searches_kcount',
} as const satisfies Partial<Record<keyof Rates, string>>
type RateName = keyof typeof rateNames

const byPiece: ReadonlySet<string> = new Set<RateName>(['request', 'search'])

/**
 * What a model costs a platform connection at one moment, in nano-dollars (`Pricing`). Prices by
 * length of prompt become tiers, prices by date or hour the one valid at `at`. Null where the price data
 * do not know the model, or know no token price of it. Never throws.
 *
 * @param pricesId the provider's id in `@pydantic/genai-prices`; null has no prices
 */
export function priceOf(pricesId: string | null, upstreamModel: string, at: Date): Pricing | null {
  const prices = pricesId === null ? undefined : pricesAt(pricesId, upstreamModel, at)
  if (!prices) return null
  const usual = ratesOf(prices, 0)
  const { input } = usual
  if (input === undefined) {
    // The data hold free models as models without prices, but other unpriced ones as well.
    const free = Object.keys(prices).length === 0 && upstreamModel.endsWith(':free')
    return free ? { input: 0n, output: 0n } : null
  }
  const tiers = tiersOf(prices)
  // Embedding models have no output.
  const pricing = { output: 0n, ...usual, input }
  return tiers.length > 0 ? { ...pricing, tiers } : pricing
}

type Prices = Readonly<Partial<Record<string, Price>>>

/** One tier for each length at which any rate changes, with all rates that change by length. */
function tiersOf(prices: Prices): PriceTier[] {
  const tiered = Object.values(prices).filter((price) => typeof price === 'object')
  const starts = new Set(tiered.flatMap(({ tiers }) => tiers.map(({ start }) => start)))
  const changing = Object.fromEntries(
    Object.entries(prices).filter(([, price]) => typeof price === 'object'),
  )
  return [...starts]
    .filter((start) => Number.isSafeInteger(start) && start > 0)
    .toSorted((a, b) => a - b)
    .map((above) => ({ above, rates: ratesOf(changing, above + 1) }))
}

/** The rates of a prompt of so many tokens. */
function ratesOf(prices: Prices, promptTokens: number): Partial<Rates> {
  const rates: Partial<Rates> = {}
  let name: RateName
  for (name in rateNames) {
    const nanos = toNanos(prices[rateNames[name]], promptTokens)
    // A piece is far above a nano-dollar, so nothing is lost.
    if (nanos !== undefined) rates[name] = byPiece.has(name) ? nanos / 1000n : nanos
  }
  return rates
}

function toNanos(price: Price, promptTokens: number): bigint | undefined {
  if (price === undefined) return undefined
  const usd = typeof price === 'number' ? price : priceFor(price, promptTokens)
  return Number.isFinite(usd) && usd >= 0 ? nanosOf(usd) : undefined
}

const priceFor = ({ base, tiers }: TieredPrice, promptTokens: number): number =>
  tiers
    .filter(({ start }) => promptTokens > start)
    .toSorted((a, b) => a.start - b.start)
    .at(-1)?.price ?? base

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
