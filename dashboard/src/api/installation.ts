import { queryOptions, useQuery, type QueryClient } from '@tanstack/react-query'
import { checkedFetch } from './client'

interface Service {
  name: string
  base_url: string
  features: Record<string, boolean>
  auth: {
    oauth_providers: string[]
    /** Missing in what an earlier version has left in the browser. */
    identity_provider?: { name: string; protocol: 'oidc' | 'saml' } | null
  }
}

interface KeptService {
  service: Service
  readAtMs: number
}

const staleMs = 300_000
const storageKey = 'tollgate.service'

/** Reads what another document of this browser has loaded: people behind one address share the rate of public requests. */
function readKept(): KeptService | undefined {
  try {
    const kept: KeptService = JSON.parse(localStorage.getItem(storageKey) ?? '')
    return typeof kept.service.name === 'string' && kept.readAtMs <= Date.now() ? kept : undefined
  } catch {
    // There is none, or the browser stores nothing.
    return undefined
  }
}

function keep(kept: KeptService): void {
  try {
    localStorage.setItem(storageKey, JSON.stringify(kept))
  } catch {
    // Without it each document asks.
  }
}

async function loadService(): Promise<Service> {
  const service: Service = await (await checkedFetch('/api/public/config')).json()
  keep({ service, readAtMs: Date.now() })
  return service
}

/** Public information about this service. */
export const serviceQuery = queryOptions({
  queryKey: ['service'],
  queryFn: loadService,
  staleTime: staleMs,
  initialData: () => readKept()?.service,
  initialDataUpdatedAt: () => readKept()?.readAtMs,
})

/** Shows a name that was just saved: other nodes may still return the one before. */
export function renameService(queries: QueryClient, name: string): void {
  const service = queries.setQueryData(
    serviceQuery.queryKey,
    (known) => known && { ...known, name },
  )
  if (service) keep({ service, readAtMs: Date.now() })
}

/** The name of this service, which its operator sets under *Branding*. */
export const useServiceName = (): string => useQuery(serviceQuery).data?.name ?? 'Tollgate'

/** Whether this service sends email; assumed until it is known. Without it, operators hand out sign-in links. */
export const useSendsEmail = (): boolean => useQuery(serviceQuery).data?.features['email'] ?? true
