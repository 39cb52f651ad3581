import type { Category } from '../../src/catalog/model'
import { type Facts, type Listings, positive, toUnixSeconds } from './facts'
import { cleaned, normalized, rateNames, type Price, type Quote, type Rates } from './price'

interface LitellmModel {
  litellm_provider?: string
  mode?: string
  max_input_tokens?: number
  max_output_tokens?: number
  output_vector_size?: number
  deprecation_date?: string
  supported_endpoints?: string[]
  supported_modalities?: string[]
  supported_output_modalities?: string[]
  supports_function_calling?: boolean
  supports_reasoning?: boolean
  supports_response_schema?: boolean
  supports_native_structured_output?: boolean
  supports_vision?: boolean
  supports_audio_input?: boolean
  supports_audio_output?: boolean
  search_context_cost_per_query?: Record<string, number>
  tiered_pricing?: ({ range?: [number, number] } & Record<string, unknown>)[]
  off_peak_pricing?: OffPeak
}

interface OffPeak extends Record<string, unknown> {
  windows: { hours_utc: string | string[]; weekdays?: number[] }[]
}

const categories: Record<string, Category> = {
  chat: 'chat',
  responses: 'chat',
  completion: 'completion',
  embedding: 'embedding',
}

/** Reads the model table of `litellm`. */
export async function readLitellm(files: Map<string, File>): Promise<Listings> {
  const [file] = files.values()
  const entries: Record<string, LitellmModel> = await file?.json()
  const listings: Listings = new Map()
  for (const [id, model] of Object.entries(entries)) {
    const category = categories[model.mode ?? '']
    if (!category || !model.litellm_provider) continue
    const listing = listings.get(model.litellm_provider) ?? new Map<string, Facts>()
    listings.set(model.litellm_provider, listing.set(id, toFacts(category, model)))
  }
  return listings
}

function toFacts(category: Category, model: LitellmModel): Facts {
  const { supported_endpoints: endpoints = ['/v1/responses'] } = model
  return {
    category,
    ...positive('contextLength', model.max_input_tokens),
    ...positive('maxOutputTokens', model.max_output_tokens),
    input: inputOf(model),
    output: model.supported_output_modalities ?? [
      'text',
      ...(model.supports_audio_output ? ['audio'] : []),
    ],
    tools: model.supports_function_calling ?? false,
    reasoning: model.supports_reasoning ?? false,
    jsonSchema: model.supports_response_schema ?? model.supports_native_structured_output ?? false,
    ...positive('deprecated', toUnixSeconds(model.deprecation_date ?? '')),
    ...positive('dimensions', model.output_vector_size),
    responsesOnly: model.mode === 'responses' && !endpoints.includes('/v1/chat/completions'),
    ...toQuote(category, model),
  }
}

const inputOf = (model: LitellmModel): string[] => [
  ...new Set([
    'text',
    ...(model.supports_vision ? ['image'] : []),
    ...(model.supports_audio_input ? ['audio'] : []),
    ...(model.supported_modalities ?? []),
  ]),
]

const perToken: Record<string, keyof Rates> = {
  input_cost_per_token: 'input',
  output_cost_per_token: 'output',
  cache_read_input_token_cost: 'cached_input',
  cache_creation_input_token_cost: 'cache_write',
  cache_creation_input_token_cost_above_12hr: 'cache_write_1h',
  cache_creation_input_token_cost_above_1hr: 'cache_write_1h',
  output_cost_per_reasoning_token: 'reasoning',
  input_cost_per_audio_token: 'audio_input',
  output_cost_per_audio_token: 'audio_output',
  input_cost_per_image_token: 'image_input',
  output_cost_per_image_token: 'image_output',
}
const perPiece: Record<string, keyof Rates> = {
  input_cost_per_image: 'image',
  input_cost_per_request: 'request',
}
const services = { flex: 'flex', priority: 'priority', batches: 'batch' } as const
const field =
  /^(.+?_(?:token|cost))(_above_(?:1|12)hr)?(?:_above_(\d+)k_tokens)?(?:_(flex|priority|batches))?$/

type Layer = Rates & { tiers: Map<number, Rates> }

/** Groups the price fields of a model by the service tier and the prompt length in their names. */
function layersOf(fields: Record<string, unknown>): Map<keyof typeof services | '', Layer> {
  const layers = new Map<keyof typeof services | '', Layer>()
  for (const [name, value] of Object.entries(fields)) {
    const [, stem = '', lifetime = '', above, service = ''] = field.exec(name) ?? []
    const rate = perToken[stem + lifetime]
    if (rate === undefined || typeof value !== 'number') continue
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the pattern allows no other
    const layer = layerIn(layers, service as keyof typeof services | '')
    const tier = above === undefined ? undefined : Number(above) * 1000
    const target = tier === undefined ? layer : (layer.tiers.get(tier) ?? {})
    if (tier !== undefined) layer.tiers.set(tier, target)
    target[rate] = value * 1_000_000
  }
  return layers
}

function layerIn<Name>(layers: Map<Name, Layer>, name: Name): Layer {
  const layer = layers.get(name) ?? { tiers: new Map<number, Rates>() }
  layers.set(name, layer)
  return layer
}

const tiersOf = ({ tiers }: Layer) => [...tiers].map(([above, rates]) => ({ above, ...rates }))

function toQuote(category: Category, model: LitellmModel): { quote?: Quote } {
  const layers = layersOf(ranged(model))
  const base = layers.get('')
  if (base?.input === undefined || (base.output === undefined && category !== 'embedding'))
    return {}
  const service = Object.entries(services).flatMap(([name, ours]) => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its own keys
    const layer = layers.get(name as keyof typeof services)
    return layer ? [[ours, { ...cleaned(layer), tiers: tiersOf(layer) }] as const] : []
  })
  const price: Price = {
    ...cleaned(base),
    ...piecesOf(model),
    tiers: [...tiersOf(base), ...rangesOf(model)],
    service_tiers: Object.fromEntries(service),
  }
  if (price.input === 0 && (price.output ?? 0) === 0) return {}
  return {
    quote: {
      price: normalized(model.off_peak_pricing ? byHours(price, model.off_peak_pricing) : price),
    },
  }
}

function piecesOf(model: LitellmModel): Rates {
  const pieces: Rates = {}
  for (const [name, value] of Object.entries(model)) {
    const rate = perPiece[name]
    if (rate && typeof value === 'number') pieces[rate] = value
  }
  const fees = Object.values(model.search_context_cost_per_query ?? {})
  // Priced by the amount searched, which usage does not report: the most expensive is used.
  if (fees.length > 0) pieces.search = Math.max(...fees)
  return pieces
}

/** Normalizes models priced by prompt ranges only: the first range becomes the base. */
const ranged = (model: LitellmModel): Record<string, unknown> => ({
  ...model.tiered_pricing?.[0],
  ...model,
})

const rangesOf = ({ tiered_pricing: ranges = [] }: LitellmModel) =>
  ranges.slice(1).flatMap(({ range, ...fields }) => {
    const rates = layersOf(fields).get('')
    return range && rates ? [{ above: range[0], ...cleaned(rates) }] : []
  })

const dayMinutes = 1440

/** Combines the off-peak price as base with the peak price for the hours outside its windows. */
function byHours(peak: Price, { windows, ...fields }: OffPeak): Price {
  const cheap = cleaned(layersOf(fields).get('') ?? {})
  const hours = [0, 1, 2, 3, 4, 5, 6].flatMap((day) => {
    // Their week begins with Monday as 1 and ends with Sunday as 7.
    const own = windows.filter(({ weekdays }) => weekdays?.includes(day === 0 ? 7 : day) ?? true)
    const spans = own.flatMap(({ hours_utc: text }) => [text].flat().map(toMinutes))
    return gapsBetween(spans).map(([from, until]) => ({ day, from, until }))
  })
  const days = Map.groupBy(hours, ({ from, until }) => `${from} ${until}`)
  return {
    ...peak,
    ...cheap,
    hours: [...days.values()].map((same) => ({
      from: same[0]?.from ?? 0,
      until: same[0]?.until ?? 0,
      days: same.map(({ day }) => day),
      ...Object.fromEntries(
        rateNames.filter((name) => cheap[name]).map((name) => [name, peak[name]]),
      ),
    })),
  }
}

function toMinutes(window: string): [number, number] {
  const [from = 0, until = 0] = window.split('-').map((time) => {
    const [hour = 0, minute = 0] = time.split(':').map(Number)
    return hour * 60 + minute
  })
  return [from, until === 0 ? dayMinutes : until]
}

function gapsBetween(spans: [number, number][]): [number, number][] {
  const gaps: [number, number][] = []
  let at = 0
  for (const [from, until] of spans.toSorted(([one], [other]) => one - other)) {
    if (from > at) gaps.push([at, from])
    at = Math.max(at, until)
  }
  return at < dayMinutes ? [...gaps, [at, dayMinutes]] : gaps
}
