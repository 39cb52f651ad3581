import { readFileSync } from 'node:fs'
import type { Provider } from '../providers/provider'
import { getPricingOn } from './entry-pricing'
import { writesText, type Capability, type Model, type Pricing } from './model'
// Its path on the disk, in the bundle or in the executable.
import catalogPath from './models.json' with { type: 'file' }
import type { CatalogEntryRow, CatalogFile } from './catalog-file'
import { isPrice } from './is-priced'
import { servesKind } from './served-kinds'

/**
 * Reads the built-in catalogue: at the start, and once a day. Its entries are not kept between, as they take as much
 * memory as the models made from them.
 */
export const readBuiltInCatalog = (): CatalogFile => JSON.parse(readFileSync(catalogPath, 'utf8'))

/** Reads the parts of the catalogue that are kept. */
function readKeptParts() {
  const { models, aliases } = readBuiltInCatalog()
  const announced = models.filter((entry) => entry.price_changes)
  return {
    retired: new Map(Object.entries(aliases)),
    announced: new Map(announced.map((entry) => [entry.id, entry])),
  }
}

const keptParts = readKeptParts()

/** Retired names: full id -> id of the model that replaces it. */
export const retiredNames: ReadonlyMap<string, string> = keptParts.retired

/** Built-in models with announced prices, by id. */
export const builtInAnnounced: ReadonlyMap<string, CatalogEntryRow> = keptParts.announced

/** Loads the built-in models of the given `providers`, with the prices valid at `at`. */
export function loadBuiltInModels(providers: readonly Provider[], at: Date = new Date()): Model[] {
  const rows = new Map(providers.map((provider) => [provider.key, provider]))
  const models = readBuiltInCatalog().models.flatMap((entry) => {
    const provider = rows.get(entry.id.slice(0, entry.id.indexOf('/')))
    return provider && servesKind(provider, entry.category) ? [toModel(entry, provider, at)] : []
  })
  return rows.has('sandbox') ? [...models, ...sandboxModels] : models
}

/** Announced prices begin on a day of UTC; prices by the hour are part of a price. */
const priceSlotMs = 86_400_000

/** Returns the number of the period in which prices cannot change. */
export const priceSlot = (nowMs: number): number => Math.floor(nowMs / priceSlotMs)

/** Returns the built-in models, loaded anew when prices may have changed. */
export function createBuiltInModels(providers: readonly Provider[]): (nowMs: number) => Model[] {
  let loadedModels = { slot: Number.NaN, models: [] as Model[] }
  return (nowMs) => {
    const slot = priceSlot(nowMs)
    if (loadedModels.slot !== slot)
      loadedModels = { slot, models: loadBuiltInModels(providers, new Date(nowMs)) }
    return loadedModels.models
  }
}

/** Converts an entry to its model, with the price of a day. */
export function toModel(entry: CatalogEntryRow, provider: Provider, at: Date): Model {
  const upstreamModel = entry.id.slice(provider.key.length + 1)
  const isFree = entry.free === true
  const pricing = toCompletePrice(getPricingOn(entry, at), entry)
  return {
    id: entry.id,
    provider: provider.key,
    name: entry.name,
    upstreamModel,
    category: entry.category,
    contextLength: entry.context_length ?? null,
    maxInputTokens: toPromptLimit(entry),
    maxOutputTokens: entry.max_output_tokens ?? null,
    capabilities: capabilitiesOf(entry),
    pricing,
    isFree,
    enabled: true,
    createdAt: entry.created,
    deprecatedAt: entry.deprecated ?? null,
    dimensions: entry.dimensions ?? null,
    simulated: false,
  }
}

/** Returns the maximum prompt of an entry in tokens, at most its context: some sources publish a larger one. */
const toPromptLimit = ({ context_length: context, max_input_tokens: prompt }: CatalogEntryRow) =>
  prompt === undefined ? null : Math.min(prompt, context ?? prompt)

/** Treats an incomplete price as none: half of one would give the answers away. */
const toCompletePrice = (
  pricing: Pricing | null,
  { free, category }: CatalogEntryRow,
): Pricing | null => (pricing && (free || isPrice(pricing, category)) ? pricing : null)

function capabilitiesOf({
  category,
  input,
  output,
  ...entry
}: CatalogEntryRow): Model['capabilities'] {
  const hasAudio = input.includes('audio') || output.includes('audio')
  return toCapabilities([
    ...entry.capabilities,
    ...(input.includes('image') && category !== 'embedding' ? (['vision'] as const) : []),
    ...(hasAudio && category !== 'embedding' ? (['audio'] as const) : []),
    ...(writesText(category) ? (['streaming'] as const) : []),
  ])
}

const toCapabilities = (names: readonly Capability[]): Model['capabilities'] => ({
  vision: names.includes('vision'),
  audio: names.includes('audio'),
  tools: names.includes('tools'),
  reasoning: names.includes('reasoning'),
  streaming: names.includes('streaming'),
  json_mode: names.includes('json_mode'),
  json_schema: names.includes('json_schema'),
})

// The creation date of the sandbox.
const sandboxCreated = Date.UTC(2026, 10, 1) / 1000

const sandboxModel = (name: string, own: Pick<Model, 'name' | 'category'>): Model => {
  const isWriting = writesText(own.category)
  return {
    id: `sandbox/${name}`,
    provider: 'sandbox',
    upstreamModel: name,
    contextLength: isWriting ? 128_000 : null,
    maxInputTokens: null,
    maxOutputTokens: isWriting ? 4096 : null,
    capabilities: toCapabilities(
      isWriting ? ['tools', 'streaming', 'json_mode', 'json_schema'] : [],
    ),
    // Free because the entry states it, not for lack of a price.
    pricing: { input: 0n, output: 0n },
    isFree: true,
    enabled: true,
    createdAt: sandboxCreated,
    deprecatedAt: null,
    dimensions: own.category === 'embedding' ? 256 : null,
    simulated: true,
    ...own,
  }
}

/** Models of the sandbox, which answer from this process without a provider. */
const sandboxModels: readonly Model[] = [
  sandboxModel('echo', { name: 'Sandbox Echo', category: 'chat' }),
  sandboxModel('lorem', { name: 'Sandbox Lorem', category: 'chat' }),
  sandboxModel('tools', { name: 'Sandbox Tools', category: 'chat' }),
  sandboxModel('embedding', { name: 'Sandbox Embedding', category: 'embedding' }),
  sandboxModel('moderation', { name: 'Sandbox Moderation', category: 'moderation' }),
  sandboxModel('rerank', { name: 'Sandbox Rerank', category: 'rerank' }),
  sandboxModel('speech', { name: 'Sandbox Speech', category: 'speech' }),
  sandboxModel('transcription', { name: 'Sandbox Transcription', category: 'transcription' }),
  sandboxModel('image', { name: 'Sandbox Image', category: 'image' }),
]
