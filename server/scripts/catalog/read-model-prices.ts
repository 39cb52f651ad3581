import { type Facts, type Listings } from './facts'
import { cleaned, normalized, type Price, type Quote, type Rates } from './price'

interface Sold {
  input?: number
  output?: number
  cache_read?: number
  cache_write?: number
  cache_write_1h_multiple?: number
  tiers?: ({ above: number } & Omit<Sold, 'tiers'>)[]
}

type Timeline = { start: string | null; rates: Sold | null }[]

interface Snapshot {
  prices: Record<string, Record<string, Record<string, Timeline>>>
  status: Record<string, Record<string, string>>
}

/** Reads the price history of `model-prices`, as of a day. */
export async function readModelPrices(files: Map<string, File>, on: string): Promise<Listings> {
  const [file] = files.values()
  const snapshot: Snapshot = await file?.json()
  return new Map(
    Object.entries(snapshot.prices).map(([provider, models]) => [
      provider,
      new Map(
        Object.entries(models).map(([id, modes]): [string, Facts] => [
          id,
          {
            category: /embed/.test(id) ? 'embedding' : 'chat',
            ...(snapshot.status[provider]?.[id] === 'removed' && { isRemoved: true }),
            ...toQuote(modes, on),
          },
        ]),
      ),
    ]),
  )
}

function toQuote(modes: Record<string, Timeline>, on: string): { quote?: Quote } {
  const now = priceOn(modes, on)
  if (!now) return {}
  const starts = Object.values(modes).flatMap((mode) =>
    mode.flatMap(({ start }) => (start && start.slice(0, 10) > on ? [start.slice(0, 10)] : [])),
  )
  const later = [...new Set(starts)].toSorted().flatMap((from) => {
    const price = priceOn(modes, from)
    return price ? [{ from, price }] : []
  })
  return { quote: { price: now, ...(later.length > 0 && { later }) } }
}

function priceOn(modes: Record<string, Timeline>, day: string): Price | undefined {
  const standard = inForce(modes['standard'], day)
  if (standard?.input === undefined || (standard.input === 0 && !standard.output)) return undefined
  const service = (['flex', 'batch'] as const).flatMap((mode) => {
    const rates = inForce(modes[mode], day)
    return rates ? [[mode, layerOf(rates)] as const] : []
  })
  // Alibaba bills the reasoning tokens of hybrid models at a separate price.
  const reasoning = inForce(modes['thinking'], day)?.output
  return normalized({
    ...layerOf(standard),
    ...(reasoning !== undefined && { reasoning }),
    service_tiers: Object.fromEntries(service),
  })
}

const inForce = (timeline: Timeline = [], day: string) =>
  timeline.findLast(({ start }) => start === null || start.slice(0, 10) <= day)?.rates ?? undefined

const layerOf = ({ tiers = [], ...rates }: Sold) => ({
  ...ratesOf(rates, rates.cache_write_1h_multiple),
  tiers: tiers.map(({ above, ...tier }) => ({
    above,
    ...ratesOf(tier, rates.cache_write_1h_multiple),
  })),
})

const ratesOf = (rates: Omit<Sold, 'tiers'>, long: number | undefined): Rates =>
  cleaned({
    input: rates.input,
    output: rates.output,
    cached_input: rates.cache_read,
    cache_write: rates.cache_write,
    // The multiple is the provider's; only models that charge for cache writes have it.
    cache_write_1h:
      long !== undefined && rates.input !== undefined && rates.cache_write
        ? long * rates.input
        : undefined,
  })
