import { queryOptions } from '@tanstack/react-query'
import { api, bodyOf, type Schemas } from '../../api/client'

export const settingsQuery = queryOptions({
  queryKey: ['settings'],
  queryFn: async () => bodyOf(api.GET('/api/account/settings')),
})
export type Settings = Schemas['AccountSettings']

export const handleQuery = queryOptions({
  queryKey: ['handle'],
  queryFn: async () => bodyOf(api.GET('/api/account/handles')),
})
export type DisplayedHandle = Schemas['Handle']
