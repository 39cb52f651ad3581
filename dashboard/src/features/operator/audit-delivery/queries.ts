import { queryOptions } from '@tanstack/react-query'
import { api, bodyOf, type Schemas } from '../../../api/client'

export type LegalHold = Schemas['LegalHold']

const maxShown = 100

/** The newest legal holds, ended ones too. */
export const legalHoldsQuery = queryOptions({
  queryKey: ['operator', 'legal-holds'],
  queryFn: async () =>
    (await bodyOf(api.GET('/api/admin/legal-holds', { params: { query: { limit: maxShown } } })))
      .holds,
})
