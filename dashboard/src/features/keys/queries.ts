import { queryOptions } from '@tanstack/react-query'
import { api, bodyOf, type Schemas } from '../../api/client'

/** API keys of the account, including expired ones. */
export const keysQuery = queryOptions({
  queryKey: ['keys'],
  queryFn: async () => (await bodyOf(api.GET('/api/account/keys'))).keys,
})

export type Key = Schemas['ListedKey']

/** The permissions of a key. */
export const permissions = [
  ['read', 'Read', 'View models, logs, balance and settings.'],
  ['write', 'Write', 'Call models and change everything except the account itself.'],
  ['admin', 'Admin', 'Full access, including keys and organizations.'],
] as const

/** The endpoints that a key may be restricted to, as they are called. */
export const endpoints = [
  { value: 'chat', label: 'Chats, messages and responses' },
  { value: 'completions', label: 'Completions' },
  { value: 'embeddings', label: 'Embeddings' },
  { value: 'moderations', label: 'Moderations' },
  { value: 'rerank', label: 'Rerank' },
  { value: 'images', label: 'Images' },
  { value: 'speech', label: 'Speech' },
  { value: 'transcriptions', label: 'Transcriptions' },
  { value: 'translations', label: 'Translations of speech' },
] as const

/** The limits of a key, within those of the plan. */
export const limits = [
  ['rate_limit_requests_per_minute', 'Requests per minute'],
  ['rate_limit_tokens_per_minute', 'Tokens per minute'],
  ['rate_limit_images_per_minute', 'Images per minute'],
  ['rate_limit_audio_seconds_per_minute', 'Seconds of sound per minute'],
  ['max_concurrent_requests', 'Concurrent requests'],
  ['monthly_spend_limit', 'USD per month'],
] as const
