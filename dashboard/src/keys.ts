import { queryOptions } from '@tanstack/react-query'
import { api } from './api'

/** Keys of the account, expired ones too. */
export const keysQuery = queryOptions({
  queryKey: ['keys'],
  queryFn: async () => (await (await api.account.keys.$get()).json()).keys,
})

export type Key = Awaited<ReturnType<NonNullable<typeof keysQuery.queryFn>>>[number]

/** What a key may do. */
export const permissions = [
  ['read', 'Read', 'See models, logs, balance and settings.'],
  ['write', 'Write', 'Call models, and change what is not the account itself.'],
  ['admin', 'Admin', 'Everything, keys and organizations included.'],
] as const

/** What narrows a key below the plan. */
export const limits = [
  ['rate_limit_requests_per_minute', 'Requests per minute'],
  ['rate_limit_tokens_per_minute', 'Tokens per minute'],
  ['max_concurrent_requests', 'Requests at once'],
  ['monthly_spend_limit', 'USD per month'],
] as const
