import { exactUsd } from '../../format/money'

type Rates = Readonly<Record<string, unknown>>

/** The unit of a rate in words, and the one by which people know it, of which the first has so many. */
interface Unit {
  rate: string
  words: string
  usual?: { words: string; count: number }
}

const minutesOfHour = 60

/** The units of rates that are not for tokens, the one by which a model is known before its others. */
const units: readonly Unit[] = [
  { rate: 'made_image', words: 'per image' },
  { rate: 'made_megapixel', words: 'per megapixel' },
  { rate: 'audio_hour', words: 'per hour', usual: { words: 'per minute', count: minutesOfHour } },
  { rate: 'input_characters', words: 'per 1M characters' },
  { rate: 'output_characters', words: 'per 1M characters' },
  { rate: 'search', words: 'per search' },
  { rate: 'request', words: 'per request' },
  { rate: 'image', words: 'per image in the prompt' },
  { rate: 'second', words: 'per second' },
]

/** Writes a rate with its unit, where that is not tokens: `$0.04 per image`. */
export function rateText(name: string, rate: number | null): string {
  const unit = units.find((one) => one.rate === name)
  if (unit === undefined || rate === null) return exactUsd(rate)
  return `${exactUsd(rate)} ${unit.words}`
}

const amountOf = (rates: Rates, name: string): number => {
  const rate = rates[name]
  return typeof rate === 'number' ? rate : 0
}

/** Writes the price of a model whose tokens cost nothing; undefined for other models, and where none is known. */
export function unitPrice(rates: Rates): string | undefined {
  if (amountOf(rates, 'input') + amountOf(rates, 'output') > 0) return undefined
  const unit = units.find(({ rate }) => amountOf(rates, rate) > 0)
  if (!unit) return undefined
  const { words, count } = unit.usual ?? { words: unit.words, count: 1 }
  return `${exactUsd(amountOf(rates, unit.rate) / count)} ${words}`
}

/** Selects the rates to show: zero for tokens says nothing where a model is paid by something else. */
export const isShownRate = (rates: Rates, name: string): boolean =>
  typeof rates[name] === 'number' &&
  !((name === 'input' || name === 'output') && unitPrice(rates) !== undefined)
