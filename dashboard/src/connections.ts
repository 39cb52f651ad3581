import { queryOptions } from '@tanstack/react-query'
import { api } from './api'

/** Connections that the account may see. */
export const connectionsQuery = queryOptions({
  queryKey: ['connections'],
  queryFn: async () => {
    const answer = await api.connections.$get({ query: { limit: '100' } })
    return (await answer.json()).connections
  },
})

export type Connection = Awaited<ReturnType<NonNullable<typeof connectionsQuery.queryFn>>>[number]
