import { queryOptions, useQuery } from '@tanstack/react-query'
import { checkedFetch } from './client'

interface Service {
  name: string
  base_url: string
  features: Record<string, boolean>
  auth: { oauth_providers: string[] }
}

/** Public information about this service. */
export const serviceQuery = queryOptions({
  queryKey: ['service'],
  queryFn: async (): Promise<Service> => (await checkedFetch('/api/public/config')).json(),
  staleTime: 300_000,
})

/** The name of this service, which its operator sets under *Branding*. */
export const useServiceName = (): string => useQuery(serviceQuery).data?.name ?? 'Tollgate'

/** Whether this service sends email; assumed until it is known. Without it, operators hand out sign-in links. */
export const useSendsEmail = (): boolean => useQuery(serviceQuery).data?.features['email'] ?? true
