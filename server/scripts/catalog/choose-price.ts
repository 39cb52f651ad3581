import {
  cleaned,
  differences,
  filled,
  isClose,
  normalized,
  type Price,
  type Quote,
  type Rates,
  usd,
} from './price'
import { writesText, type Category } from '../../src/catalog/model'

export interface NamedQuote extends Quote {
  source: string
}

/** The price chosen from those of the sources. */
export interface Chosen {
  price: Price
  later: Quote['later']
  source: string
  /** Differences of other sources, by source. */
  differing: Record<string, string[]>
}

/** Order of sources: exact names before patterns; the oldest last. */
const order = ['litellm', 'pi-ai', 'genai-prices', 'model-prices', 'models.dev']

/** Models that search for every answer, so that the fee of a search applies to each request. */
const searchesAlways = /search-preview|search-api|^sonar/

/** Chooses the price of a model; undefined where no source has one. `prefer` names the source to use. */
export function choosePrice(
  unordered: readonly NamedQuote[],
  { id, prefer }: { id: string; prefer: string | undefined },
): Chosen | undefined {
  const quotes = unordered.toSorted(
    (one, other) => order.indexOf(one.source) - order.indexOf(other.source),
  )
  const chosen = quotes.find(({ source }) => source === prefer) ?? findMajority(quotes)
  if (!chosen) return undefined
  const others = quotes.filter((quote) => quote !== chosen)
  const price = filled([chosen, ...others].map((quote) => quote.price))
  const agreeing = quotes.filter((quote) => differences(chosen.price, quote.price).length === 0)
  return {
    price: searchesAlways.test(id) ? withSearchOfEachRequest(price) : price,
    later: agreeing
      .find(({ later }) => later)
      ?.later?.map(({ from, price: then }) => ({ from, price: announced(price, then) })),
    source: chosen.source,
    differing: Object.fromEntries(
      others.flatMap((quote) => {
        const found = differences(chosen.price, quote.price)
        return found.length > 0 ? [[quote.source, found]] : []
      }),
    ),
  }
}

/**
 * Completes an announced price with the rates that the announcement leaves out: where input and output change by
 * one factor, so do the other rates.
 */
function announced(now: Price, then: Price): Price {
  const factor = (then.input ?? 0) / (now.input ?? 0)
  if (!Number.isFinite(factor) || !isClose((then.output ?? 0) / (now.output ?? 0), factor))
    return then
  const { service_tiers: services = {}, tiers = [], hours: _hours, ...rates } = now
  const scaledTiers = (known: typeof tiers) =>
    known.map(({ above, ...own }) => ({ above, ...scaled(own, factor) }))
  return normalized({
    ...scaled(rates, factor),
    ...(tiers.length > 0 && { tiers: scaledTiers(tiers) }),
    ...then,
    service_tiers: {
      ...Object.fromEntries(
        Object.entries(services).map(([name, { tiers: own = [], ...layer }]) => [
          name,
          { ...scaled(layer, factor), tiers: scaledTiers(own) },
        ]),
      ),
      ...then.service_tiers,
    },
  })
}

/** Scales token rates; prices of units, such as searches, stay. */
const scaled = (
  { audio_hour, image, request, search, ...tokens }: Rates,
  factor: number,
): Rates => ({
  ...Object.fromEntries(
    Object.entries(tokens).map(([name, rate]: [string, number]) => [name, usd(rate * factor)]),
  ),
  ...cleaned({ audio_hour, image, request, search }),
})

/** Returns the price that most fresh sources agree on; the first of several. */
function findMajority(quotes: readonly NamedQuote[]): NamedQuote | undefined {
  const fresh = quotes.filter(({ source }) => source !== 'models.dev')
  const votesOf = ({ price }: Quote) =>
    fresh.filter(
      (other) =>
        isClose(price.input ?? 0, other.price.input ?? 0) &&
        isClose(price.output ?? 0, other.price.output ?? 0),
    ).length
  const max = Math.max(...fresh.map(votesOf))
  return fresh.find((quote) => votesOf(quote) === max) ?? quotes[0]
}

function withSearchOfEachRequest({ search, ...price }: Price): Price {
  const request = price.request ?? search
  return { ...price, ...(request !== undefined && { request }) }
}

/** Removes tiers beyond the longest prompt. */
export function withoutUnreachableTiers(price: Price, maxPromptTokens = Infinity): Price {
  const reach = <Layer extends Pick<Price, 'tiers'>>({ tiers = [], ...layer }: Layer) => {
    const reached = tiers.filter(({ above }) => above < maxPromptTokens)
    return { ...layer, ...(reached.length > 0 && { tiers: reached }) }
  }
  const { service_tiers: services, ...base } = price
  return {
    ...reach(base),
    ...(services && {
      service_tiers: Object.fromEntries(
        Object.entries(services).map(([name, layer]) => [name, reach(layer)]),
      ),
    }),
  }
}

/** Tells whether a price has both input and output, as half a price would give answers away. */
export const isComplete = (price: Price, category: Category): boolean =>
  (price.request ?? 0) > 0 || pricesKind(price, category)

function pricesKind(price: Price, category: Category): boolean {
  const { input = 0, input_characters: characters = 0, output = 0 } = price
  const { made_image: image = price.image_output ?? output } = price
  const hasInputPrice = input + characters > 0
  switch (category) {
    case 'image':
      return image > 0
    case 'rerank':
      return hasInputPrice || (price.search ?? 0) > 0
    case 'transcription':
      return hasInputPrice || (price.audio_hour ?? 0) > 0
    default:
      return hasInputPrice && (!writesText(category) || output > 0)
  }
}
