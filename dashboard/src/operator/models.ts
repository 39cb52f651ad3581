import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { admin } from '../api'
import { pageQuery } from '../lists'
import { oneOf, pageOf, textOf, type Search } from '../search'

export const stateNames = { on: 'Enabled', off: 'Disabled' } as const
export const categories = {
  chat: 'Chat',
  completion: 'Completion',
  embedding: 'Embedding',
} as const

type State = keyof typeof stateNames
type Category = keyof typeof categories

/** The filters of the catalogue and the open model. */
export interface ModelSearch {
  search?: string | undefined
  provider?: string | undefined
  category?: Category | undefined
  state?: State | undefined
  page?: number | undefined
  model?: string | undefined
}

export const toModelSearch = (search: Search): ModelSearch => ({
  search: textOf(search, 'search'),
  provider: textOf(search, 'provider'),
  category: oneOf(search, 'category', ['chat', 'completion', 'embedding']),
  state: oneOf(search, 'state', ['on', 'off']),
  page: pageOf(search),
  model: textOf(search, 'model'),
})

/** Query key prefix of the catalogue. */
const modelsKey = ['operator', 'models'] as const

const isEnabled = { on: 'true', off: 'false' } as const

export const modelsQuery = ({ search, provider, category, state, page }: ModelSearch) =>
  queryOptions({
    queryKey: [...modelsKey, 'list', { search, provider, category, state, page }],
    queryFn: async () => {
      const filter = { search, provider, category, enabled: state && isEnabled[state] }
      const { models, pagination } = await (await admin.models.$get(pageQuery(filter, page))).json()
      return { items: models, total: pagination.total }
    },
    placeholderData: keepPreviousData,
  })

export type Model = Awaited<
  ReturnType<NonNullable<ReturnType<typeof modelsQuery>['queryFn']>>
>['items'][number]
export type Pricing = NonNullable<Model['pricing']>

/** The endpoint of one model: ids contain slashes and other characters that providers use. */
export const oneModel = admin.models[':id{[\\s\\S]+}']
export const inPath = (id: string) => ({ param: { id: encodeURIComponent(id) } })

export const modelQuery = (id: string) =>
  queryOptions({
    queryKey: [...modelsKey, 'one', id],
    queryFn: async () => {
      const answer = await (await oneModel.$get(inPath(id))).json()
      // The same route responds with prices when the path ends in that word.
      if ('prices' in answer) throw new Error(`Model "${id}" not found.`)
      return answer
    },
  })

/** The past, current and planned prices of a model, latest first. */
export const pricesQuery = (id: string) =>
  queryOptions({
    queryKey: [...modelsKey, 'prices', id],
    queryFn: async () => (await (await oneModel.prices.$get(inPath(id))).json()).prices,
  })

export type Price = Awaited<
  ReturnType<NonNullable<ReturnType<typeof pricesQuery>['queryFn']>>
>[number]

/** A missing value is an empty text in a form. */
export const orEmpty = <Value>(value: Value | null) => value ?? ('' as const)
