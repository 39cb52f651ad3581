import type { PricePart } from './prices'
import { exactUsd } from '../../format/money'

type Rates = Readonly<Partial<Record<PricePart, number | null>>>

/** The units of rates that are not for tokens, the one by which a model is known before its others. */
const units = [
  ['made_image', 'per image'],
  ['made_megapixel', 'per megapixel'],
  ['input_characters', 'per 1M characters'],
  ['output_characters', 'per 1M characters'],
  ['search', 'per search'],
  ['request', 'per request'],
  ['image', 'per image in the prompt'],
  ['second', 'per second'],
] as const satisfies readonly (readonly [PricePart, string])[]

const unitOf: ReadonlyMap<PricePart, string> = new Map(units)

/** Writes a rate with its unit, where that is not tokens: `$0.04 per image`. */
export function rateText(part: PricePart, rate: number | null): string {
  const unit = unitOf.get(part)
  return unit === undefined || rate === null ? exactUsd(rate) : `${exactUsd(rate)} ${unit}`
}

/** Writes the price of a model whose tokens cost nothing; undefined for other models, and where none is known. */
export function unitPrice(rates: Rates): string | undefined {
  if ((rates.input ?? 0) > 0 || (rates.output ?? 0) > 0) return undefined
  const [part] = units.find(([unit]) => (rates[unit] ?? 0) > 0) ?? []
  return part && rateText(part, rates[part] ?? null)
}

/** Selects the rates to show: zero for tokens says nothing where a model is paid by something else. */
export const isShownRate = (rates: Rates, part: PricePart): boolean =>
  (rates[part] ?? null) !== null &&
  !((part === 'input' || part === 'output') && unitPrice(rates) !== undefined)
