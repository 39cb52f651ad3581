import { readLiteral } from './python-literal'
import { cleaned, normalized, type Price, type Quote, type Rates } from './price'

/** A call in the source: its name in `$`, and its arguments. */
type Call<Fields> = { $: string; args: readonly unknown[] } & Fields

type Amount = Call<
  { args: [string] } | { base: Amount; tiers: Call<{ start: number; price: Amount }>[] }
>
/** Beside the amounts it has `$` and `args`, as any call. */
type ModelPrice = Readonly<Record<string, Amount>>
type Constraint = Call<{
  start_date?: Call<{ args: [number, number, number] }>
  start_time?: Call<object>
  end_time?: Call<object>
}>
type Match = Call<Record<string, unknown>>

interface Conditional {
  constraint?: Constraint | null
  prices: ModelPrice
}

interface ModelInfo {
  id: string
  match: Match
  prices: ModelPrice | Conditional[]
  price_variants?: ({ when: Record<string, string> } & Conditional)[]
  deprecated?: boolean
}

interface ProviderInfo {
  id: string
  models: ModelInfo[]
  fallback_model_providers?: string[]
}

/** Looks up a model of a provider in `genai-prices`. */
export type QuoteOf = (provider: string, id: string) => { quote?: Quote; isRemoved?: boolean }

/** Reads the prices of `genai-prices` as of a day; its models are matched by patterns. */
export async function readGenaiPrices(files: Map<string, File>, on: string): Promise<QuoteOf> {
  const [file] = files.values()
  const source = (await file?.text()) ?? ''
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- data of a pinned version
  const list = readLiteral(source, 'providers: list[Provider] = ') as unknown as ProviderInfo[]
  const providers = new Map(list.map((provider) => [provider.id, provider]))
  const find = (key: string, id: string): ModelInfo | undefined => {
    const provider = providers.get(key)
    const own = provider?.models.find(({ match }) => matches(match, id))
    if (own || !provider?.fallback_model_providers) return own
    for (const other of provider.fallback_model_providers) {
      const found = find(other, id)
      if (found) return found
    }
    return undefined
  }
  return (provider, name) => {
    const id = name.toLowerCase()
    const info = find(provider, id) ?? find(provider, withDashedDates(id))
    if (!info) return {}
    const quote = toQuote(info, on)
    return { ...(quote && { quote }), ...(info.deprecated && { isRemoved: true }) }
  }
}

// The data has dates with dashes, some providers write them without.
const withDashedDates = (id: string) =>
  id.replaceAll(/-(20\d{2})(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(?=-|:|$)/g, '-$1-$2-$3')

function matches(match: Match, id: string): boolean {
  const text = (name: string) => String(match[name]).toLowerCase()
  switch (match.$) {
    case 'ClauseEquals':
      return id === text('equals')
    case 'ClauseStartsWith':
      return id.startsWith(text('starts_with'))
    case 'ClauseEndsWith':
      return id.endsWith(text('ends_with'))
    case 'ClauseContains':
      return id.includes(text('contains'))
    case 'ClauseRegex':
      return new RegExp(String(match['regex'])).test(id)
    case 'ClauseOr':
      return clausesOf(match, 'or_').some((clause) => matches(clause, id))
    case 'ClauseAnd':
      return clausesOf(match, 'and_').every((clause) => matches(clause, id))
    default:
      throw new Error(`genai-prices has a new kind of match: ${match.$}.`)
  }
}

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- data of a pinned version
const clausesOf = (match: Match, name: string) => match[name] as Match[]

function toQuote(info: ModelInfo, on: string): Quote | undefined {
  const rows = Array.isArray(info.prices) ? info.prices : [{ prices: info.prices }]
  const variants = info.price_variants ?? []
  const price = priceOn(rows, variants, on)
  if (!price) return undefined
  const starts = [...rows, ...variants].flatMap(({ constraint }) => {
    const day = startOf(constraint)
    return day !== undefined && day > on ? [day] : []
  })
  const later = [...new Set(starts)].toSorted().flatMap((from) => {
    const then = priceOn(rows, variants, from)
    return then ? [{ from, price: then }] : []
  })
  return { price, ...(later.length > 0 && { later }) }
}

/** Returns the price on a day: the last row in force, among those without hours. */
function priceOn(
  rows: Conditional[],
  variants: NonNullable<ModelInfo['price_variants']>,
  day: string,
): Price | undefined {
  const begun = (row: Conditional) => (startOf(row.constraint) ?? '') <= day
  const [timed, dated] = [true, false].map((hasTime) =>
    rows.filter(({ constraint }) => (constraint?.start_time !== undefined) === hasTime),
  )
  const row = dated?.findLast(begun)
  const base = row && layerOf(row.prices)
  if (base?.input === undefined) return undefined
  if (base.input === 0 && !base.output && base.request === undefined) return undefined
  const services = (['flex', 'priority', 'batch'] as const).flatMap((name) => {
    const variant = variants.find(
      (one) => begun(one) && (one.when['service_tier'] ?? one.when['processing']) === name,
    )
    return variant ? [[name, layerOf(variant.prices)] as const] : []
  })
  return normalized({
    ...base,
    service_tiers: Object.fromEntries(services),
    hours: (timed ?? []).map(({ constraint, prices }) => ({
      from: minutesOf(constraint?.start_time),
      until: minutesOf(constraint?.end_time) || 1440,
      ...ratesOf(prices, baseOf),
    })),
  })
}

const pad = (part: number | undefined) => String(part).padStart(2, '0')

function startOf(constraint: Constraint | null | undefined): string | undefined {
  const [year, month, day] = constraint?.start_date?.args ?? []
  return year === undefined ? undefined : `${year}-${pad(month)}-${pad(day)}`
}

function minutesOf(time: Call<object> | undefined): number {
  const [hour = 0, minute = 0] = time?.args ?? []
  return Number(hour) * 60 + Number(minute)
}

const perMillion: Record<string, keyof Rates> = {
  input_mtok: 'input',
  output_mtok: 'output',
  cache_read_mtok: 'cached_input',
  cache_write_mtok: 'cache_write',
  cache_write_1h_mtok: 'cache_write_1h',
  output_reasoning_mtok: 'reasoning',
  input_audio_mtok: 'audio_input',
  output_audio_mtok: 'audio_output',
  input_image_mtok: 'image_input',
  output_image_mtok: 'image_output',
}
const perThousand: Record<string, keyof Rates> = {
  requests_kcount: 'request',
  web_searches_kcount: 'search',
}

const numberOf = (amount: Amount): number => Number(amount.args[0])
const baseOf = (amount: Amount): number => numberOf('base' in amount ? amount.base : amount)

function ratesOf(prices: ModelPrice, of: (amount: Amount) => number | undefined): Rates {
  const rates: Rates = {}
  for (const [name, amount] of Object.entries(prices)) {
    const million = perMillion[name]
    const thousand = perThousand[name]
    const value = million || thousand ? of(amount) : undefined
    if (value === undefined) continue
    if (million) rates[million] = value
    if (thousand) rates[thousand] = value / 1000
  }
  return cleaned(rates)
}

function layerOf(prices: ModelPrice) {
  const starts = Object.values(prices).flatMap((amount) =>
    typeof amount === 'object' && 'tiers' in amount ? amount.tiers.map(({ start }) => start) : [],
  )
  const tiers = [...new Set(starts)].map((above) => ({
    above,
    ...ratesOf(prices, (amount) => {
      const tier = 'tiers' in amount && amount.tiers.find(({ start }) => start === above)
      return tier ? numberOf(tier.price) : undefined
    }),
  }))
  return { ...ratesOf(prices, baseOf), tiers }
}
