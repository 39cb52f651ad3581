import { retiredNames } from './built-in'
import type { Model } from './model'
import type { Snapshot } from './snapshot'

type Listing = Pick<Snapshot, 'models'>

/**
 * Finds the model of the catalogue for an id: the model of that id, else the one that has the id as an alias. Aliases
 * are names that providers have retired, `-latest`, a date behind a listed name or none behind a dated one, dots for
 * dashes, and a name without the vendor that the provider puts before it. A dated name is sent to the provider as it
 * is; a listed one has its own price.
 */
export function findModelByName(snapshot: Listing, id: string): Model | undefined {
  return snapshot.models.get(id) ?? findByAlias(snapshot, id)
}

function findByAlias(snapshot: Listing, id: string): Model | undefined {
  const retiredName = retiredNames.get(id)
  const successor = retiredName === undefined ? undefined : snapshot.models.get(retiredName)
  if (successor) return successor
  const provider = id.slice(0, id.indexOf('/'))
  const name = id.slice(provider.length + 1)
  const names = namesIn(snapshot).get(provider)
  if (!names) return undefined
  const key = toKey(name)
  const same = names.get(key)
  if (same) return same.model
  const undated = withoutDate(key)
  const base = undated === key ? undefined : names.get(undated)
  // A date other than the listed one is another model, whose price is unknown.
  if (!base || base.isDated) return undefined
  return { ...base.model, upstreamModel: name }
}

/** Returns whether an id means a model that is disabled, by its own name or by an alias. */
export function isNameOfDisabled({ models }: Listing, id: string): boolean {
  const provider = id.slice(0, id.indexOf('/'))
  const key = toKey(id.slice(provider.length + 1))
  const isAlias = (own: string) =>
    own === key || own === withoutDate(key) || withoutDate(own) === key
  for (const model of models.values()) {
    if (model.enabled || model.provider !== provider) continue
    if (namesOf(model).some(([name]) => isAlias(toKey(name)))) return true
  }
  return false
}

interface Named {
  model: Model
  /** The distance from the model's own name; lower is closer. */
  distance: number
  /** Whether the name is the model's own without its date. */
  isDated: boolean
}

type Names = Map<string, Named>

const namesByModels = new WeakMap<ReadonlyMap<string, Model>, Map<string, Names>>()

/** Returns all aliases, by provider: built on the first request for a name that no model has. */
function namesIn({ models }: Listing): Map<string, Names> {
  const cached = namesByModels.get(models)
  if (cached) return cached
  const byProvider = new Map<string, Names>()
  for (const model of models.values()) {
    if (!model.enabled) continue
    const names: Names = byProvider.get(model.provider) ?? new Map<string, Named>()
    byProvider.set(model.provider, names)
    for (const [name, distance] of namesOf(model)) {
      const key = toKey(name)
      const undated = withoutDate(key)
      add(names, key, { model, distance, isDated: false })
      // Ranks below all names from which no date was removed.
      if (undated !== key) add(names, undated, { model, distance: distance + 10, isDated: true })
    }
  }
  namesByModels.set(models, byProvider)
  return byProvider
}

/** Of two models the closer name wins, of two equally close ones the newer model. */
function add(names: Names, key: string, entry: Named): void {
  const other = names.get(key)
  const order =
    other && (entry.distance - other.distance || other.model.createdAt - entry.model.createdAt)
  if (order === undefined || order < 0) names.set(key, entry)
}

/** Lists a model's own name, and those without the parts that its provider puts before and behind it, by distance. */
export function namesOf({ id, provider }: Model): [name: string, distance: number][] {
  const name = id.slice(provider.length + 1)
  const own: [string, number] = [name, 0]
  const last = name.lastIndexOf('/')
  if (last >= 0) return [own, [name.slice(last + 1), 1]]
  // Bedrock: `global.anthropic.claude-sonnet-4-5-20250929-v1:0`. New models are served by a profile only.
  const [, scope, bare] = /^(global\.)?[a-z0-9-]+\.(.+?)(?:-v\d+(?::\d+)?)?$/.exec(name) ?? []
  return provider === 'bedrock' && bare !== undefined ? [own, [bare, scope ? 1 : 2]] : [own]
}

/** Returns a name as names are compared: without `-latest`, with dashes for dots. */
export const toKey = (name: string) =>
  name
    .replace(/^models\//, '')
    .replace(/[-:@](?:latest|default)$/, '')
    // Fireworks writes 4.1 as 4p1, Vertex AI a version after an @.
    .replaceAll(/(?<=\d)p(?=\d)/g, '-')
    .replaceAll(/[.@]/g, '-')

const date =
  /-(?:20\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])|20\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01]))(?=$|[-:])/

export const withoutDate = (key: string) => key.replace(date, '')

/** Other gateways' and SDKs' names for our providers. */
const providerNames: ReadonlyMap<string, string> = new Map(
  Object.entries({
    alibaba: 'dashscope',
    'amazon-bedrock': 'bedrock',
    'azure-openai': 'azure',
    azure_ai: 'azure-foundry',
    byteplus: 'ark',
    'deepseek-ai': 'deepseek',
    'fireworks-ai': 'fireworks',
    fireworks_ai: 'fireworks',
    gemini: 'google',
    'google-ai-studio': 'google',
    'google-vertex': 'vertex',
    mistralai: 'mistral',
    'moonshot-ai': 'moonshot',
    moonshotai: 'moonshot',
    nvidia_nim: 'nvidia',
    qwen: 'dashscope',
    together_ai: 'together',
    togetherai: 'together',
    vertex_ai: 'vertex',
    'x-ai': 'xai',
    'z-ai': 'zai',
    'z.ai': 'zai',
    zhipu: 'zai',
    zhipuai: 'zai',
  }),
)

/** Returns our key of a provider that another gateway names, `DeepInfra` or `deepinfra/turbo`. */
export function toProviderKey(name: string): string {
  const [key = ''] = name.toLowerCase().replaceAll(' ', '-').split('/')
  return providerNames.get(key) ?? key
}

/** Returns the id with our key of the provider that it names by another name; undefined where there is none. */
export function withProviderKey(id: string): string | undefined {
  const at = id.indexOf('/')
  const key = providerNames.get(id.slice(0, at))
  return key === undefined ? undefined : key + id.slice(at)
}
