import { queryOptions, useQuery, useSuspenseQuery } from '@tanstack/react-query'
import type { paths } from '@tollgate/client/schema'
import { api, bodyOf, type Schemas } from './client'
import { sessionQuery } from './session'

type OperatorPath = Extract<keyof paths, `/api/admin/${string}`>

/** An endpoint of operators: `PUT /api/admin/users/{id}`. */
export type OperatorEndpoint = `${'GET' | 'POST' | 'PUT' | 'DELETE'} ${OperatorPath}`

/** A role of operators. */
export type OperatorRole = Schemas['OperatorRole']['role']

export const operatorRoles = ['operator', 'support', 'finance', 'read_only'] as const

export const roleNames: Readonly<Record<OperatorRole, string>> = {
  operator: 'Operator',
  support: 'Support',
  finance: 'Finance',
  read_only: 'Read-only',
}

/** The endpoints that the role of the session may call. */
const endpointsQuery = (role: string | null | undefined) =>
  queryOptions({
    queryKey: ['operator', 'role', role],
    queryFn: async (): Promise<readonly string[]> =>
      (await bodyOf(api.GET('/api/admin/operator'))).endpoints,
    staleTime: 60_000,
  })

/** The access of the session to the pages and endpoints of operators. */
export interface OperatorAccess {
  isOperator: boolean
  /** Whether it is not known yet what the role may call. */
  isPending: boolean
  may: (endpoint: OperatorEndpoint) => boolean
}

/** Reads what the session may do as an operator. */
export function useOperatorAccess(): OperatorAccess {
  const { data: session } = useSuspenseQuery(sessionQuery)
  const isFull = session?.user.isOperator === true
  const role = isFull ? 'operator' : session?.user.operatorRole
  // Full operators may do everything, and need not ask.
  const isLimited = !isFull && typeof role === 'string'
  const { data: endpoints = [], isPending } = useQuery({
    ...endpointsQuery(role),
    enabled: isLimited,
  })
  return {
    isOperator: isFull || isLimited,
    isPending: isLimited && isPending,
    may: (endpoint) => isFull || (isLimited && endpoints.includes(endpoint)),
  }
}
