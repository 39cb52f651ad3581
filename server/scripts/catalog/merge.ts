import type { CatalogEntryRow } from '../../src/catalog/catalog-file'
import { responsesModels } from '../../src/providers/responses/models'
import { getResponsesFlags } from '../../src/providers/responses/needs-responses'
import { withLongestPrompt } from './context-window'
import { choosePrice, isComplete, type NamedQuote, withoutUnreachableTiers } from './choose-price'
import { corrected } from './corrected'
import { type Dates, toEntry } from './entry'
import type { Facts, Listing, Listings } from './facts'
import { firstClass } from './first-class'
import { correctionOf, describedIds } from './overlay'
import { type Names, providerNames } from './providers'
import type { QuoteOf } from './read-genai-prices'

/** The parsed sources. */
export interface Sources {
  piAi: Listings
  litellm: Listings
  modelPrices: Listings
  modelsDev: Listings
  genaiPrices: QuoteOf
}

/** A model with its notes for the report. */
export interface Merged {
  entry: CatalogEntryRow
  /** The source of its price; null where it has none. */
  priceFrom: string | null
  /** Differences of other sources, by source. */
  differing: Record<string, string[]>
  isMissing: boolean
}

// Kinds of models without an endpoint here, where the sources file them under chat or embedding.
const otherKinds =
  /image|[-_]tts|transcri|whisper|moderat|rerank|guard|realtime|[-_]live|native-audio|content-safety|speech|lyria|(^|\/)deep-research|^ada$|(^|\/)veo|imagen|robotics|-ocr|ocr-|^ft:|container|voyage-(context|multimodal)|multimodalembedding|marengo|clip-v/i

// Served by the Responses API only, unless the sources say otherwise.
const responsesPath = /codex|deep-research|computer-use|-pro(-\d{4}|$)/

/** Merges the sources into all models, sorted by id. */
export function merge(sources: Sources, dates: Dates): Merged[] {
  const named = Object.entries(providerNames).flatMap(([provider, names]) =>
    modelsOf(provider, names, { sources, dates }),
  )
  const known = new Set(named.map(({ entry }) => entry.id))
  const added = describedIds()
    .filter((id) => !known.has(id))
    .flatMap((id) => {
      const at = id.indexOf('/')
      return toMerged(
        { provider: id.slice(0, at), id: id.slice(at + 1), facts: [], quotes: [] },
        dates,
      )
    })
  return [...named, ...added].toSorted((a, b) => (a.entry.id < b.entry.id ? -1 : 1))
}

interface SourceModel {
  sources: Sources
  dates: Dates
}

function modelsOf(provider: string, names: Names, { sources, dates }: SourceModel): Merged[] {
  const piAi = sources.piAi.get(names.piAi ?? '') ?? new Map<string, Facts>()
  const litellm = litellmListing(names, sources.litellm)
  const modelsDev = merged((names.modelsDev ?? []).map((name) => sources.modelsDev.get(name)))
  const modelPrices = sources.modelPrices.get(names.modelPrices ?? '') ?? new Map<string, Facts>()
  // An older list adds models only where no fresh one has the provider.
  const naming = piAi.size > 0 ? [piAi, litellm] : [litellm, modelsDev]
  const ids = new Set(naming.flatMap((listing) => [...listing.keys()]))
  return [...ids].flatMap((id) => {
    const described = {
      litellm,
      'pi-ai': piAi,
      'model-prices': modelPrices,
      'models.dev': modelsDev,
    }
    const own = Object.entries(described).map(([source, listing]) => ({
      source,
      facts: listing.get(id),
    }))
    const priced = names.genaiPrices ? sources.genaiPrices(names.genaiPrices, id) : {}
    const facts = [piAi, litellm, modelsDev].flatMap((listing) => listing.get(id) ?? [])
    const isEnded =
      modelPrices.get(id)?.isRemoved === true ||
      priced.isRemoved === true ||
      facts.some(({ deprecated }) => deprecated !== undefined && deprecated <= dates.on)
    const { kept, left_out: isLeftOut } = correctionOf(`${provider}/${id}`)
    // litellm keeps models that were withdrawn long ago; a maintained list of the provider takes precedence.
    const isTended = names.genaiPrices !== undefined && !names.keepsAll
    const isBacked =
      !isTended || priced.quote || [piAi, modelsDev, modelPrices].some((listing) => listing.has(id))
    if (isLeftOut || isOtherKind(provider, id, facts)) return []
    if (!kept && !piAi.has(id) && (isEnded || !isBacked)) return []
    const quotes = [...own, { source: 'genai-prices', facts: priced }].flatMap(
      ({ source, facts: from }) => (from?.quote ? [{ source, ...from.quote }] : []),
    )
    return toMerged({ provider, id, facts, quotes }, dates)
  })
}

function litellmListing(names: Names, litellm: Listings): Listing {
  const { prefix = '', only = false, flat = false } = names
  const all = merged((names.litellm ?? []).map((name) => litellm.get(name)))
  const models = [...all].flatMap(([key, facts]): [string, Facts][] => {
    if (only && !key.startsWith(prefix)) return []
    const id = key.startsWith(prefix) ? key.slice(prefix.length) : key
    return flat && id.includes('/') ? [] : [[id, facts]]
  })
  return new Map(models)
}

const merged = (listings: (Listing | undefined)[]): Listing =>
  new Map(listings.flatMap((listing) => (listing ? [...listing] : [])))

function isOtherKind(provider: string, id: string, facts: Facts[]): boolean {
  if (otherKinds.test(id)) return true
  // Bedrock's ids begin with a vendor; the rest are names that other software made up.
  if (provider === 'bedrock' && !/^[a-z0-9-]+\./.test(id)) return true
  const output = facts.find((source) => source.output)?.output ?? ['text']
  if (!output.includes('text') && !facts.some(({ category }) => category === 'embedding'))
    return true
  if (output.includes('image') || output.includes('video')) return true
  const stated = facts.find((source) => source.responsesOnly !== undefined)?.responsesOnly
  const isResponsesOnly = stated ?? (/^(openai|azure)/.test(provider) && responsesPath.test(id))
  return isResponsesOnly && !isTranslated(provider, id)
}

/** Whether Tollgate knows that all chats of a model have to be sent as Responses. */
const isTranslated = (provider: string, id: string) =>
  (provider === 'openai' || provider === 'azure') &&
  getResponsesFlags(responsesModels, id)?.responsesOnly === true

/** A price with other rates, in the usual order of its fields. */
interface Described {
  provider: string
  id: string
  facts: Facts[]
  quotes: NamedQuote[]
}

function toMerged({ provider, id, facts, quotes }: Described, dates: Dates): Merged[] {
  const fullId = `${provider}/${id}`
  const correction = correctionOf(fullId)
  const entry = withLongestPrompt({
    ...toEntry({ provider, id, facts }, dates),
    ...correction.entry,
  })
  if (correction.free ?? id.endsWith(':free')) {
    const free = { ...entry, free: true as const, price: { input: 0, output: 0 } }
    return [{ entry: free, priceFrom: 'overlay', differing: {}, isMissing: false }]
  }
  const chosen = correction.price
    ? { price: correction.price, later: undefined, source: 'overlay', differing: {} }
    : choosePrice(quotes, { id, prefer: correction.prefer })
  const isPriced = !correction.unpriced && chosen && isComplete(chosen.price, entry.category)
  if (!isPriced) {
    const isMissing = !correction.unpriced && firstClass.has(provider)
    return [{ entry, priceFrom: null, differing: {}, isMissing }]
  }
  const price = withoutUnreachableTiers(
    corrected(chosen.price, correction),
    entry.max_input_tokens ?? entry.context_length,
  )
  const later = chosen.later?.map(({ from, price: then }) => ({
    from,
    price: corrected(then, correction),
  }))
  return [
    {
      entry: { ...entry, price, price_changes: later ?? entry.price_changes },
      priceFrom: chosen.source,
      differing: chosen.differing,
      isMissing: false,
    },
  ]
}
