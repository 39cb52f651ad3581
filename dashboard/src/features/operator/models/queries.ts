import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { api, bodyOf, type Schemas } from '../../../api/client'
import { pageQuery } from '../../../api/paging'
import { oneOf, pageOf, textOf, type Search } from '../../../url/search'

export const stateNames = { on: 'Enabled', off: 'Disabled' } as const
export const categories = {
  chat: 'Chat',
  completion: 'Completion',
  embedding: 'Embedding',
  moderation: 'Moderation',
  rerank: 'Reranking',
  image: 'Images',
  speech: 'Speech',
  transcription: 'Transcription',
} as const

/** The fields that sort the catalog. */
const sorts = ['name', 'context_length', 'input_price', 'output_price'] as const
type Sort = (typeof sorts)[number]
export const usualSort: Sort = 'name'

export const sortOf = (by: string): Sort | undefined => sorts.find((sort) => sort === by)

type State = keyof typeof stateNames
type Category = keyof typeof categories

/** The filters and the order of the catalog, and the open model. */
export interface ModelSearch {
  search?: string | undefined
  provider?: string | undefined
  category?: Category | undefined
  state?: State | undefined
  sort?: Sort | undefined
  order?: 'desc' | undefined
  page?: number | undefined
  model?: string | undefined
}

export const toModelSearch = (search: Search): ModelSearch => ({
  search: textOf(search, 'search'),
  provider: textOf(search, 'provider'),
  category: oneOf(search, 'category', [
    'chat',
    'completion',
    'embedding',
    'moderation',
    'rerank',
    'image',
    'speech',
    'transcription',
  ]),
  state: oneOf(search, 'state', ['on', 'off']),
  sort: oneOf(search, 'sort', sorts),
  order: oneOf(search, 'order', ['desc']),
  page: pageOf(search),
  model: textOf(search, 'model'),
})

/** Query key prefix of the catalog. */
const modelsKey = ['operator', 'models'] as const

const isEnabled = { on: true, off: false } as const

export const modelsQuery = ({ model: _model, ...filters }: ModelSearch) =>
  queryOptions({
    queryKey: [...modelsKey, 'list', filters],
    queryFn: async () => {
      const { search, provider, category, state, sort = usualSort, order, page } = filters
      const filter = {
        search,
        provider,
        category,
        enabled: state && isEnabled[state],
        sort,
        order,
      }
      const { models, pagination } = await bodyOf(
        api.GET('/api/admin/models', { params: { query: pageQuery(filter, page) } }),
      )
      return { items: models, total: pagination.total }
    },
    placeholderData: keepPreviousData,
  })

export type Model = Schemas['OperatedModel']
export type Pricing = NonNullable<Model['pricing']>

export const modelQuery = (id: string) =>
  queryOptions({
    queryKey: [...modelsKey, 'one', id],
    queryFn: () => bodyOf(api.GET('/api/admin/models/{id}', { params: { path: { id } } })),
  })

export const saveModel = (id: string, body: Schemas['ChangedModel']) =>
  bodyOf(api.PUT('/api/admin/models/{id}', { params: { path: { id } }, body }))

/** The past, current and planned prices of a model, latest first. */
export const pricesQuery = (id: string) =>
  queryOptions({
    queryKey: [...modelsKey, 'prices', id],
    queryFn: async () =>
      (await bodyOf(api.GET('/api/admin/models/{id}/prices', { params: { path: { id } } }))).prices,
  })

export type Price = Schemas['PriceHistory']['prices'][number]

/** A missing value is an empty text in a form. */
export const orEmpty = <Value>(value: Value | null) => value ?? ('' as const)
