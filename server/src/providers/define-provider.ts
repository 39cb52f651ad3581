import type { z } from 'zod'
import { type Provider, RelayOptions } from './provider'

interface Row extends Partial<Omit<Provider, 'key' | 'name' | 'baseUrl' | 'options'>> {
  options?: z.input<typeof RelayOptions>
}

/** Defines one provider with the usual properties: the OpenAI format, a Bearer key in `<KEY>_API_KEY`. */
export function defineProvider(
  [key, name]: readonly [key: string, name: string],
  baseUrl: string | null,
  row: Row,
) {
  return {
    key,
    name,
    dialect: 'openai',
    baseUrl,
    variables: {},
    authHeader: 'authorization',
    keyless: false,
    keyVariables: [`${variablePrefix(key)}_API_KEY`],
    embeddings: 'no',
    abort: 'unknown',
    website: null,
    ...row,
    options: RelayOptions.parse(row.options ?? {}),
  } satisfies Provider
}

const variablePrefix = (key: string) => key.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')

/** The environment variable that replaces a provider's base URL: `OPENAI_BASE_URL`. */
export const baseUrlVariable = (key: string): string => `${variablePrefix(key)}_BASE_URL`

// The former name of `max_completion_tokens`, for providers that do not know the newer one.
export const oldCap = { max_completion_tokens: 'max_tokens' }
export const newCap = { max_tokens: 'max_completion_tokens' }

// Compatible services take texts and give floats; Tollgate encodes and decodes for the caller.
export const plainEmbeddings = { base64: false, tokenArrays: false }

// Coding agents always send some of these; APIs that refuse unknown fields do not know them.
export const openAiOnly = [
  'prompt_cache_key',
  'prompt_cache_options',
  'prompt_cache_retention',
  'safety_identifier',
  'verbosity',
]

/** The same for services that know its key of a cache. */
export const openAiOnlyButCacheKey = openAiOnly.filter((name) => name !== 'prompt_cache_key')

/** Identifiers that OpenAI accepts. @see https://platform.openai.com/docs/guides/safety-best-practices */
export const openAiIdentifiers = {
  chat: ['safety_identifier', 'prompt_cache_key'],
  completions: ['user'],
  embeddings: ['user'],
  images: ['user'],
  responses: ['safety_identifier', 'prompt_cache_key'],
} satisfies z.input<typeof RelayOptions>['identifiers']

/** Services that know OpenAI's former name of an end user alone. */
export const plainIdentifiers = {
  chat: ['user'],
  completions: ['user'],
} satisfies z.input<typeof RelayOptions>['identifiers']

export const openAiReasoning = ['o1', 'o3', 'o4', 'gpt-5', 'gpt-6', 'gpt-daybreak', 'chat-latest']

/** Models that know custom tools. @see https://platform.openai.com/docs/guides/function-calling#custom-tools */
export const openAiCustomTools = ['gpt-5', 'gpt-6']

/** Models with sound or search of their own, which do not support Responses. */
export const openAiChatOnly = [
  'gpt-audio',
  'gpt-4o-audio',
  'gpt-4o-mini-audio',
  'gpt-4o-search',
  'gpt-4o-mini-search',
]
