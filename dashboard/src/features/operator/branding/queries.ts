import { queryOptions } from '@tanstack/react-query'
import { api, bodyOf } from '../../../api/client'

export const brandingQuery = queryOptions({
  queryKey: ['operator', 'branding'],
  queryFn: async () => bodyOf(api.GET('/api/admin/branding')),
})
