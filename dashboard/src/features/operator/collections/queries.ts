import { queryOptions } from '@tanstack/react-query'
import { api, bodyOf, type Schemas } from '../../../api/client'

const maxListed = 100

/** Collections available to every account. */
export const systemCollectionsQuery = queryOptions({
  queryKey: ['operator', 'collections'],
  queryFn: async () =>
    (await bodyOf(api.GET('/api/admin/collections', { params: { query: { limit: maxListed } } })))
      .collections,
})

export type SystemCollection = Schemas['SystemCollectionList']['collections'][number]
