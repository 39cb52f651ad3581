import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'
import { api, bodyOf, type Schemas } from '../../api/client'
import { yes } from '../../url/address'

export const promptsKey = ['prompts'] as const

/** The search parameters of the prompts page: filters and the open prompt. */
export interface PromptSearch {
  search?: string | undefined
  category?: string | undefined
  tag?: string | undefined
  favorites?: string | undefined
  prompt?: string | undefined
}

const pageSize = 50

const filtersOf = ({ search, category, tag, favorites }: PromptSearch) => ({
  search,
  category,
  tag,
  is_favorite: favorites === yes || undefined,
})

export const promptsQuery = (search: PromptSearch) =>
  infiniteQueryOptions({
    queryKey: [...promptsKey, 'list', filtersOf(search)],
    queryFn: async ({ pageParam }) => {
      const query = {
        ...filtersOf(search),
        limit: pageSize,
        ...(pageParam && { cursor: pageParam }),
      }
      return bodyOf(api.GET('/api/user/prompts', { params: { query } }))
    },
    initialPageParam: '',
    getNextPageParam: ({ pagination }) => pagination.next_cursor,
  })

export type Prompt = Schemas['Prompt']

/** Stands for an id in the address while a new prompt is being written. */
export const newPrompt = 'new'

const placeholder = /\{\{\s*([\p{L}\p{N}_][\p{L}\p{N}_.-]*)\s*\}\}/gu

/** Fills in the variables of a prompt; variables without a value stay as they are. */
export const filledIn = (content: string, values: Readonly<Record<string, string>>) =>
  content.replaceAll(placeholder, (match, name: string) => values[name] || match)

/** Prompts for a select, filtered by a search. */
export const selectablePromptsQuery = (search: string) =>
  queryOptions({
    queryKey: [...promptsKey, 'picked', search],
    queryFn: async () => {
      const query = { limit: 50, ...(search && { search }) }
      return (await bodyOf(api.GET('/api/user/prompts', { params: { query } }))).prompts
    },
    placeholderData: keepPreviousData,
  })
