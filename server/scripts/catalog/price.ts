import type { EntryPrice, EntryRates } from '../../src/catalog/entry-price'

export type Rates = EntryRates
export type Price = EntryPrice

/** The price of a model in one source. */
export interface Quote {
  price: Price
  /** Future prices, earliest first: the day of UTC, and the whole price. */
  later?: readonly { from: string; price: Price }[]
}

export const rateNames = [
  'input',
  'output',
  'cached_input',
  'cached_audio_input',
  'cache_write',
  'cache_write_1h',
  'reasoning',
  'audio_input',
  'audio_output',
  'image_input',
  'image_output',
  'input_characters',
  'audio_hour',
  'image',
  'request',
  'search',
  'made_image',
  'made_megapixel',
] as const satisfies readonly (keyof Rates)[]

/** Rounds an amount in USD, to remove errors of binary fractions. */
export const usd = (value: number): number => Number(value.toPrecision(10))

/**
 * Removes rates that sources write for "none": a cached read or a cache write of zero is one
 * that the provider does not have.
 */
export function cleaned(rates: { [Name in keyof Rates]: number | null | undefined }): Rates {
  const known: Rates = {}
  for (const name of rateNames) {
    const rate = rates[name]
    if (rate === undefined || rate === null || !Number.isFinite(rate) || rate < 0) continue
    if (rate === 0 && name !== 'input' && name !== 'output') continue
    known[name] = usd(rate)
  }
  return known
}

/** Orders the fields of a price, and removes parts that repeat the base. */
export function normalized(price: Price): Price {
  const base = cleaned(price)
  const tiers = tiersOf(price, base)
  const services = Object.entries(price.service_tiers ?? {}).flatMap(([name, service]) => {
    const rates = cleaned(service)
    if (Object.keys(rates).length === 0) return []
    const own = tiersOf(service, { ...base, ...rates })
    return [[name, { ...rates, ...(own.length > 0 && { tiers: own }) }] as const]
  })
  return {
    ...base,
    ...(tiers.length > 0 && { tiers }),
    ...(services.length > 0 && { service_tiers: Object.fromEntries(services) }),
    ...(price.hours && price.hours.length > 0 && { hours: price.hours }),
    ...(price.images && price.images.length > 0 && { images: price.images }),
  }
}

function tiersOf({ tiers = [] }: Pick<Price, 'tiers'>, base: Rates) {
  return tiers
    .map(({ above, ...rates }) => ({ above, ...cleaned(rates) }))
    .filter(({ above: _above, ...rates }) =>
      rateNames.some((name) => rates[name] !== undefined && rates[name] !== base[name]),
    )
    .toSorted((one, other) => one.above - other.above)
}

/** Tells whether two amounts differ by at most one per cent. */
export const isClose = (one: number, other: number): boolean =>
  one === other || Math.abs(one - other) <= 0.01 * Math.max(Math.abs(one), Math.abs(other))

/** Lists the rates in which two prices differ by more than one per cent, among those that both have. */
export function differences(one: Price, other: Price): string[] {
  const found = rateNames.flatMap((name) => {
    const [a, b] = [one[name], other[name]]
    return a !== undefined && b !== undefined && !isClose(a, b) ? [`${name} ${a} / ${b}`] : []
  })
  const [first, second] = [one.tiers?.[0], other.tiers?.[0]]
  if (first && second) {
    if (!isClose(first.above, second.above)) found.push(`above ${first.above} / ${second.above}`)
    for (const name of ['input', 'output', 'cached_input'] as const) {
      const [a, b] = [first[name], second[name]]
      if (a !== undefined && b !== undefined && !isClose(a, b)) {
        found.push(`${name} above ${first.above}: ${a} / ${b}`)
      }
    }
  }
  return found
}

/** Tells whether two sources have the same price, so that one may complete the other. */
const agree = (one: Price, other: Price) => {
  const same = (name: 'input' | 'output') =>
    one[name] !== undefined && other[name] !== undefined && isClose(one[name], other[name])
  return same('input') && same('output') && differences(one, other).length === 0
}

/** Completes the first price with the rates and tiers of later ones that agree with it. */
export function filled([first = {}, ...others]: readonly Price[]): Price {
  let price = first
  for (const other of others) {
    if (!agree(first, other)) continue
    price = {
      ...other,
      ...price,
      ...(price.service_tiers || other.service_tiers
        ? { service_tiers: { ...other.service_tiers, ...price.service_tiers } }
        : {}),
    }
  }
  return normalized(price)
}
