import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { api, checkedFetch, json } from './api'
import { yes } from './address'

/** What an address of the page of models tells: filters, and the model that is open. */
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

/** Begins the key of every query that tells of models, favourites and ratings. */
export const modelsKey = ['models'] as const

const pageSize = '50'

/** Ids hold slashes, and whatever else a provider puts into a name. */
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
      // The same route answers with ratings where the path ends in that word.
      if (answer && 'pricing' in answer) return answer
      throw new Error(`There is no model "${id}".`)
    },
  })

export const favoritesQuery = queryOptions({
  queryKey: [...modelsKey, 'favorites'],
  queryFn: async () => (await (await api.favorites.$get()).json()).favorites,
})

export type Favorite = Awaited<ReturnType<NonNullable<typeof favoritesQuery.queryFn>>>[number]
export type Model = NonNullable<Favorite['model']>

/** A handful of models whose names hold `text`. */
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

/** Providers, for a list of choices. */
export const providersQuery = queryOptions({
  queryKey: ['providers'],
  queryFn: async () => {
    const response = await checkedFetch('/api/public/providers')
    const { providers }: { providers: Provider[] } = await response.json()
    return providers.map(({ key, name }) => ({ value: key, label: name }))
  },
  staleTime: 300_000,
})

/** Makes a model or a collection a favourite, or none any more. */
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

/** Who pays for a call now: in short, in a sentence, and how it is coloured. */
export const billingNames = {
  platform: ['your credit', 'A call is paid from your credit.', 'blue'],
  house: ['the house', 'A call is not charged: your plan has the operator pay for it.', 'gray'],
  byok: ['your key', 'A call goes out with your own key; the provider bills you.', 'violet'],
  org_pays: ['organization', 'Your organization pays its provider; you pay nothing.', 'teal'],
  member_pays: [
    'organization, your credit',
    'A call goes out with the key of your organization and is paid from your credit.',
    'cyan',
  ],
  free: ['free', 'A call costs nothing.', 'green'],
} as const satisfies Record<NonNullable<Model['billing_mode']>, readonly string[]>

export const nobodyServes = [
  'not served',
  'Nobody serves this model to you now: add a connection to its provider.',
  'gray',
] as const
