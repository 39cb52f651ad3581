import type { EntryPrice, EntryRates, PriceChange } from './entry-price'
import type { PriceTier, Pricing, Rates, ServiceTier } from './model'
import { nanosOf } from '../wire/usd'

const names = {
  input: 'input',
  output: 'output',
  cached_input: 'cachedInput',
  cache_write: 'cacheWrite',
  cache_write_1h: 'cacheWriteLong',
  reasoning: 'reasoning',
  audio_input: 'audioInput',
  audio_output: 'audioOutput',
  image_input: 'imageInput',
  image_output: 'imageOutput',
  image: 'image',
  request: 'request',
  search: 'search',
} as const satisfies Record<keyof EntryRates, keyof Rates>

interface Priced {
  price?: EntryPrice | undefined
  price_changes?: readonly PriceChange[] | undefined
}

/** What an entry of the catalogue costs on a day of UTC; null where it has no price. */
export function pricingOn(
  { price, price_changes: changes = [] }: Priced,
  at: Date,
): Pricing | null {
  const day = at.toISOString().slice(0, 10)
  const current = changes.findLast(({ from }) => from <= day)?.price ?? price
  return current ? toPricing(current, at.getUTCDay()) : null
}

/** A price of `models.json` as it is charged on a day of the week, Sunday 0. */
function toPricing(price: EntryPrice, weekday: number): Pricing {
  const tiers = [...lengthTiers(price), ...hourTiers(price, weekday), ...serviceTiers(price)]
  // Embedding models have no output.
  const usual = { input: 0n, output: 0n, ...toRates(price) }
  return tiers.length > 0 ? { ...usual, tiers } : usual
}

// The same few hundred amounts in tens of thousands of places, at every start.
const known = new Map<number, bigint>()

function toNanos(usd: number): bigint {
  let nanos = known.get(usd)
  if (nanos === undefined) known.set(usd, (nanos = nanosOf(usd)))
  return nanos
}

function toRates(rates: EntryRates): Partial<Rates> {
  const nanos: Partial<Rates> = {}
  let name: keyof EntryRates
  for (name in rates) {
    const usd = rates[name]
    if (usd !== undefined && name in names) nanos[names[name]] = toNanos(usd)
  }
  return nanos
}

type Layer = Pick<EntryPrice, 'tiers'>

const lengthTiers = ({ tiers = [] }: Layer): PriceTier[] =>
  tiers.map(({ above, ...rates }) => ({ above, rates: toRates(rates) }))

const hourTiers = ({ hours = [] }: EntryPrice, weekday: number): PriceTier[] =>
  hours
    .filter(({ days }) => days?.includes(weekday) ?? true)
    .map(({ from, until, days: _days, ...rates }) => ({
      hours: { from, until },
      rates: toRates(rates),
    }))

function serviceTiers({ tiers = [], service_tiers: services = {} }: EntryPrice): PriceTier[] {
  return Object.entries(services).flatMap(([name, layer]) => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its own keys
    const serviceTier = name as ServiceTier
    const usual = toRates(layer)
    const lengths = layer.tiers ?? tiers.map((tier) => ({ ...tier, ...dearer(tier, layer) }))
    return [
      { serviceTier, rates: usual },
      ...lengths.map(({ above, ...rates }) => ({ serviceTier, above, rates: toRates(rates) })),
    ]
  })
}

/** A service tier without prices for long prompts of its own gives no discount on them. */
function dearer(tier: EntryRates, service: EntryRates): EntryRates {
  const rates: EntryRates = {}
  let name: keyof EntryRates
  for (name in names) {
    const [long, other] = [tier[name], service[name]]
    if (long !== undefined || other !== undefined) rates[name] = Math.max(long ?? 0, other ?? 0)
  }
  return rates
}
