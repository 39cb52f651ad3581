import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { api, checkedFetch, json } from './api'
import { yes } from './address'

/** The search parameters of the models page: filters and the open model. */
export const modelParameters = [
  'search',
  'provider',
  'category',
  'capability',
  'billing_mode',
  'free',
  'sort',
  'favorites',
  'model',
] as const

export type ModelSearch = { [Name in (typeof modelParameters)[number]]?: string | undefined }

/** Query key prefix of models, favourites and ratings. */
export const modelsKey = ['models'] as const

const pageSize = '50'

/** Encodes a model id for a path: ids contain slashes and other characters that providers use. */
export const inPath = (modelId: string) => ({ param: { model_id: encodeURIComponent(modelId) } })

const filtersOf = (search: ModelSearch) => {
  const { model: _open, favorites: _list, free, ...filters } = search
  return { ...filters, ...(free === yes && { free: 'true' }) }
}

export const modelsQuery = (search: ModelSearch) =>
  infiniteQueryOptions({
    queryKey: [...modelsKey, 'list', filtersOf(search)],
    queryFn: async ({ pageParam }) => {
      const query = {
        ...filtersOf(search),
        limit: pageSize,
        ...(pageParam && { cursor: pageParam }),
      }
      return (await api.models.$get({ query })).json()
    },
    initialPageParam: '',
    getNextPageParam: ({ pagination }) => pagination.next_cursor,
  })

export const modelQuery = (id: string) =>
  queryOptions({
    queryKey: [...modelsKey, 'one', id],
    queryFn: async () => {
      const answer = await (await api.models[':model_id{.+}'].$get(inPath(id))).json()
      // The same route responds with ratings when the path ends in that word.
      if (answer && 'pricing' in answer) return answer
      throw new Error(`Model "${id}" not found.`)
    },
  })

export const favoritesQuery = queryOptions({
  queryKey: [...modelsKey, 'favorites'],
  queryFn: async () => (await (await api.favorites.$get()).json()).favorites,
})

export type Favorite = Awaited<ReturnType<NonNullable<typeof favoritesQuery.queryFn>>>[number]
export type Model = NonNullable<Favorite['model']>

/** A few models whose names contain `text`. */
export const suggestionsQuery = (text: string) =>
  queryOptions({
    queryKey: [...modelsKey, 'suggested', text],
    queryFn: async () => {
      const query = { search: text, limit: '20' }
      return (await (await api.models.$get({ query })).json()).models.map(({ id }) => id)
    },
    staleTime: 60_000,
  })

interface Provider {
  key: string
  name: string
}

/** Providers for a select. */
export const providersQuery = queryOptions({
  queryKey: ['providers'],
  queryFn: async () => {
    const response = await checkedFetch('/api/public/providers')
    const { providers }: { providers: Provider[] } = await response.json()
    return providers.map(({ key, name }) => ({ value: key, label: name }))
  },
  staleTime: 300_000,
})

/** Adds a model or a collection to the favourites, or removes it. */
export const setFavorite = (id: string, wanted: boolean) =>
  wanted
    ? api.favorites.$post(undefined, json({ model_id: id }))
    : api.favorites[':model_id{.+}'].$delete(inPath(id))

export const capabilityNames = {
  vision: 'Images',
  audio: 'Audio',
  tools: 'Tools',
  reasoning: 'Reasoning',
  streaming: 'Streaming',
  json_mode: 'JSON',
  json_schema: 'JSON schema',
} as const satisfies Record<keyof Model['capabilities'], string>

export const categoryNames = {
  chat: 'Chat',
  completion: 'Completion',
  embedding: 'Embedding',
} as const satisfies Record<Model['category'], string>

/** The current payer of a request: short label, explanation and colour. */
export const billingNames = {
  platform: ['your credits', 'Requests are paid from your credits.', 'blue'],
  house: ['operator', 'Requests are not charged: your plan bills them to the operator.', 'gray'],
  byok: ['your key', 'Requests use your own key; the provider bills you.', 'violet'],
  org_pays: ['organization', 'Your organization pays the provider; you pay nothing.', 'teal'],
  member_pays: [
    'organization, your credits',
    "Requests use your organization's key and are paid from your credits.",
    'cyan',
  ],
  free: ['free', 'Requests are free.', 'green'],
} as const satisfies Record<NonNullable<Model['billing_mode']>, readonly string[]>

export const nobodyServes = [
  'unavailable',
  'No connection available for this model. Add a connection to its provider.',
  'gray',
] as const
