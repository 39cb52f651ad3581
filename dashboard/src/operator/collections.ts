import { queryOptions } from '@tanstack/react-query'
import { admin } from '../api'

const most = '100'

/** Collections available to every account. */
export const systemCollectionsQuery = queryOptions({
  queryKey: ['operator', 'collections'],
  queryFn: async () =>
    (await (await admin.collections.$get({ query: { limit: most } })).json()).collections,
})

export type SystemCollection = Awaited<
  ReturnType<NonNullable<typeof systemCollectionsQuery.queryFn>>
>[number]
