import { withDerivedRates } from './derived-rates'
import type { EntryPrice, EntryRates, PriceChange } from './entry-price'
import { rateFields } from './pricing-fields'
import { serviceTiers as knownTiers, type PriceTier, type Pricing, type Rates } from './model'
import { parseUsd } from '../wire/usd'

interface Priced {
  price?: EntryPrice | undefined
  price_changes?: readonly PriceChange[] | undefined
}

/** Returns the price of an entry of the catalogue on a day of UTC; null where it has no price. */
export function getPricingOn(
  { price, price_changes: changes = [] }: Priced,
  at: Date,
): Pricing | null {
  const day = at.toISOString().slice(0, 10)
  const current = changes.findLast(({ from }) => from <= day)?.price ?? price
  return current ? toPricing(current, { day, weekday: at.getUTCDay() }) : null
}

/** A day of UTC, `2027-01-01`, and its day of the week, Sunday 0. */
interface Day {
  day: string
  weekday: number
}

/** Converts a price of `models.json` to the pricing of a day. */
function toPricing(price: EntryPrice, on: Day): Pricing {
  // Models that only read have no output.
  const usual = { input: 0n, output: 0n, ...toRates(price) }
  const tiers = [
    ...lengthTiers(price, usual),
    ...hourTiers(price, usual, on),
    ...imageTiers(price),
    ...serviceTiers(price, usual),
  ]
  return tiers.length > 0 ? { ...usual, tiers } : usual
}

// Caches the conversion: a few hundred amounts occur in tens of thousands of places, at every start.
const nanosByUsd = new Map<number, bigint>()

function toNanos(usd: number): bigint {
  let nanos = nanosByUsd.get(usd)
  if (nanos === undefined) nanosByUsd.set(usd, (nanos = parseUsd(usd)))
  return nanos
}

function toRates(rates: EntryRates): Partial<Rates> {
  const nanos: Partial<Rates> = {}
  let name: keyof Rates
  for (name in rateFields) {
    const usd = rates[rateFields[name]]
    if (usd !== undefined) nanos[name] = toNanos(usd)
  }
  return nanos
}

const lengthTiers = ({ tiers = [] }: Pick<EntryPrice, 'tiers'>, usual: Rates): PriceTier[] =>
  tiers.map(({ above, ...rates }) => ({ above, rates: withDerivedRates(toRates(rates), usual) }))

const imageTiers = ({ images = [] }: EntryPrice): PriceTier[] =>
  images.map(({ quality, above_pixels: abovePixels, ...rates }) => ({
    ...(quality !== undefined && { quality }),
    ...(abovePixels !== undefined && { abovePixels }),
    rates: toRates(rates),
  }))

const dayMinutes = 1440

const hourTiers = ({ hours = [] }: EntryPrice, usual: Rates, { day, weekday }: Day): PriceTier[] =>
  hours
    .filter(({ days }) => days?.includes(weekday) ?? true)
    .filter(({ except }) => !except?.includes(day))
    .map(({ from, until, days: _days, except: _except, ...rates }) => ({
      hours: { from, until: until % dayMinutes },
      rates: withDerivedRates(toRates(rates), usual),
    }))

function serviceTiers(price: EntryPrice, usual: Rates): PriceTier[] {
  const { tiers = [], service_tiers: services = {} } = price
  return knownTiers.flatMap((serviceTier) => {
    const layer = services[serviceTier]
    if (!layer) return []
    const rates = withDerivedRates(toRates(layer), usual)
    const lengths =
      layer.tiers ?? tiers.map((tier) => ({ ...tier, ...withDearerRates(tier, layer) }))
    return [
      { serviceTier, rates },
      ...lengthTiers({ tiers: lengths }, { ...usual, ...rates }).map((tier) => ({
        serviceTier,
        ...tier,
      })),
    ]
  })
}

/** A service tier without prices of its own for long prompts gives no discount on them. */
function withDearerRates(tier: EntryRates, service: EntryRates): EntryRates {
  const rates: EntryRates = {}
  for (const name of Object.values(rateFields)) {
    const [long, other] = [tier[name], service[name]]
    if (long !== undefined || other !== undefined) rates[name] = Math.max(long ?? 0, other ?? 0)
  }
  return rates
}
