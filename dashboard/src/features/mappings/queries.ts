import { queryOptions, skipToken } from '@tanstack/react-query'
import { api, bodyOf, type Schemas } from '../../api/client'

export const mappingsQuery = queryOptions({
  queryKey: ['mappings'],
  queryFn: async () =>
    (await bodyOf(api.GET('/api/user/model-mappings', { params: { query: { limit: 100 } } })))
      .mappings,
})

export type Mapping = Schemas['ModelMapping']

/** The model to which a name leads; no request for an empty name. */
export const previewQuery = (model: string) =>
  queryOptions({
    queryKey: ['mappings', 'preview', model],
    queryFn:
      model === ''
        ? skipToken
        : async () => bodyOf(api.POST('/api/user/model-mappings/preview', { body: { model } })),
  })
