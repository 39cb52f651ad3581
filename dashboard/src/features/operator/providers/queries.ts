import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { api, bodyOf, type Schemas } from '../../../api/client'
import { pageQuery } from '../../../api/paging'
import { pageOf, textOf, type Search } from '../../../url/search'

/** The filters of the providers. */
export interface ProviderSearch {
  search?: string | undefined
  page?: number | undefined
}

export const toProviderSearch = (search: Search): ProviderSearch => ({
  search: textOf(search, 'search'),
  page: pageOf(search),
})

export const providersQuery = ({ search, page }: ProviderSearch) =>
  queryOptions({
    queryKey: ['operator', 'providers', 'list', { search, page }],
    queryFn: async () => {
      const answer = await bodyOf(
        api.GET('/api/admin/providers', {
          params: { query: pageQuery({ search }, page) },
        }),
      )
      const { providers, pagination } = answer
      return { items: providers, total: pagination.total }
    },
    placeholderData: keepPreviousData,
  })

export type Provider = Schemas['Provider']

/** The API dialects of providers: name and description. */
export const adapters = {
  openai: 'OpenAI: most providers and local servers',
  anthropic: 'Anthropic: messages',
  google: 'Google: Gemini',
  vertex: 'Google Cloud: Vertex AI',
  bedrock: 'Amazon Bedrock',
  cohere: 'Cohere',
  azure: 'Azure OpenAI',
} as const
