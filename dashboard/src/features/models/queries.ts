import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'
import { api, bodyOf, checkedFetch, type Schemas } from '../../api/client'
import { filterChoice } from '../../api/filter-choice'
import { organizationName } from '../../format/payer'
import { textsIn, yes } from '../../url/address'

/** The search parameters of the models page: filters and the open model. */
export const modelParameters = [
  'search',
  'provider',
  'category',
  'capability',
  'billing_mode',
  'free',
  'min_context',
  'max_price',
  'sort',
  'all',
  'favorites',
  'model',
] as const

export type ModelSearch = { [Name in (typeof modelParameters)[number]]?: string | undefined } & {
  /** The models selected for comparison. */
  compare?: string[] | undefined
}

/** The maximum number of models side by side. */
export const maxCompared = 4

/** Reads a list of model ids from an address. */
export function toModelIds(value: unknown): string[] | undefined {
  if (!Array.isArray(value)) return undefined
  const ids = value.filter((id) => typeof id === 'string')
  return ids.length === 0 ? undefined : [...new Set(ids)].slice(0, maxCompared)
}

/** Reads the address of the models page. */
export const toModelSearch = (search: Record<string, unknown>): ModelSearch => ({
  ...textsIn(...modelParameters)(search),
  compare: toModelIds(search['compare']),
})

/** Query key prefix of models, favorites and ratings. */
export const modelsKey = ['models'] as const

const pageSize = 50

const filtersOf = (search: ModelSearch) => {
  const { model: _open, favorites: _list, compare: _selected, ...filters } = search
  return filters
}

const numberOf = (text: string | undefined) => (text === undefined ? undefined : Number(text))

/** Returns the parameters of the list. Throws `ApiError` for a filter that does not exist. */
function toModelQuery(search: ModelSearch) {
  const { free, all, category, billing_mode, sort, min_context, max_price, ...texts } =
    filtersOf(search)
  return {
    ...texts,
    category: filterChoice('category', category, categoryNames),
    billing_mode: filterChoice('billing_mode', billing_mode, billingNames),
    sort: filterChoice('sort', sort, orderNames),
    min_context: numberOf(min_context),
    max_price: numberOf(max_price),
    ...(free === yes && { free: true }),
    ...(all !== yes && { callable: true }),
  }
}

export const modelsQuery = (search: ModelSearch) =>
  infiniteQueryOptions({
    queryKey: [...modelsKey, 'list', filtersOf(search)],
    queryFn: async ({ pageParam }) => {
      const query = {
        ...toModelQuery(search),
        limit: pageSize,
        ...(pageParam && { cursor: pageParam }),
      }
      return bodyOf(api.GET('/api/models', { params: { query } }))
    },
    initialPageParam: '',
    getNextPageParam: ({ pagination }) => pagination.next_cursor,
  })

export const modelQuery = (id: string) =>
  queryOptions({
    queryKey: [...modelsKey, 'one', id],
    queryFn: async () => {
      const answer = await bodyOf(
        api.GET('/api/models/{model_id}', { params: { path: { model_id: id } } }),
      )
      // The same route responds with ratings when the path ends in that word.
      if (answer && 'pricing' in answer) return answer
      throw new Error(`Model "${id}" not found.`)
    },
  })

export const favoritesQuery = queryOptions({
  queryKey: [...modelsKey, 'favorites'],
  queryFn: async () => (await bodyOf(api.GET('/api/favorites'))).favorites,
})

/** Whether the account can call a model that is paid from its credits. */
export const chargedQuery = queryOptions({
  queryKey: [...modelsKey, 'charged'],
  queryFn: async () => {
    const query = { billing_mode: 'platform', limit: 1 } as const
    return (await bodyOf(api.GET('/api/models', { params: { query } }))).models.length > 0
  },
  staleTime: 60_000,
})

export type Favorite = Schemas['Favorite']
export type Model = NonNullable<Favorite['model']>

/** A few models that the account can call, whose names contain `text`. */
export const suggestionsQuery = (text: string) =>
  queryOptions({
    queryKey: [...modelsKey, 'suggested', text],
    queryFn: async () => {
      const query = { search: text, limit: 20, callable: true }
      return (await bodyOf(api.GET('/api/models', { params: { query } }))).models.map(
        ({ id }) => id,
      )
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

/** Adds a model or a collection to the favorites, or removes it. */
export const setFavorite = (id: string, isFavorite: boolean) =>
  isFavorite
    ? api.POST('/api/favorites', { body: { model_id: id } })
    : api.DELETE('/api/favorites/{model_id}', { params: { path: { model_id: id } } })

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
  moderation: 'Moderation',
  rerank: 'Reranking',
  image: 'Images',
  speech: 'Speech',
  transcription: 'Transcription',
} as const satisfies Record<Model['category'], string>

/** The orders of the list. */
export const orderNames = {
  id: 'ID',
  name: 'Name',
  price: 'Price, lowest first',
  context: 'Context, longest first',
  latency: 'Latency, quickest first',
  uptime: 'Uptime, highest first',
  rating: 'Rating, best first',
} as const

/** Whether a model writes text: models of other categories only read. */
export const writesText = ({ category }: Pick<Model, 'category'>): boolean =>
  category === 'chat' || category === 'completion'

/** The current payer of a request: short label, explanation and color. */
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

/** The current payer of a request, named: short label, explanation and color. */
export function billingOf({ billing_mode: mode, payer, payer_name: name }: Model) {
  if (mode === null) return noConnection
  if (payer !== 'organization') return billingNames[mode]
  const organization = organizationName(name)
  const sentence =
    mode === 'org_pays'
      ? `${organization} pays the provider; you pay nothing.`
      : `Requests are paid from the credits of ${organization}.`
  return [organization, sentence, 'teal'] as const
}

const noConnection = [
  'unavailable',
  'No connection available for this model. Add a connection to its provider.',
  'gray',
] as const

const maxOptions = 30

/** Models of a kind that the account can call, for a select. */
export const callableModelsQuery = (category: Model['category'], search: string) =>
  queryOptions({
    queryKey: [...modelsKey, 'callable', category, search],
    queryFn: async () => {
      const filters = { category, callable: true, limit: maxOptions } as const
      const query = { ...filters, ...(search && { search }) }
      return (await bodyOf(api.GET('/api/models', { params: { query } }))).models
    },
    placeholderData: keepPreviousData,
  })

/** A free model of a kind, for users who have not selected one yet. */
export const freeModelQuery = (category: Model['category']) =>
  queryOptions({
    queryKey: [...modelsKey, 'free', category],
    queryFn: async () => {
      const query = { category, billing_mode: 'free', limit: 1 } as const
      const { models } = await bodyOf(api.GET('/api/models', { params: { query } }))
      return models[0]?.id ?? ''
    },
    staleTime: Infinity,
  })

export const ratingOrders = [
  { value: 'newest', label: 'Newest first' },
  { value: 'highest', label: 'Highest first' },
  { value: 'lowest', label: 'Lowest first' },
] as const
export type RatingOrder = (typeof ratingOrders)[number]['value']

export type Ratings = Schemas['ModelRatings']

export const ratingsQuery = (id: string, sort: RatingOrder) =>
  infiniteQueryOptions({
    queryKey: [...modelsKey, 'ratings', id, sort],
    queryFn: async ({ pageParam }) => {
      const query = { sort, limit: 10, ...(pageParam && { cursor: pageParam }) }
      const path = { model_id: id }
      return bodyOf(api.GET('/api/models/{model_id}/ratings', { params: { path, query } }))
    },
    initialPageParam: '',
    getNextPageParam: ({ pagination }) => pagination.next_cursor,
  })
