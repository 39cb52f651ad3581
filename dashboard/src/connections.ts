import { queryOptions } from '@tanstack/react-query'
import { api } from './api'

/** Connections visible to the account. */
export const connectionsQuery = queryOptions({
  queryKey: ['connections'],
  queryFn: async () => {
    const answer = await api.connections.$get({ query: { limit: '100' } })
    return (await answer.json()).connections
  },
})

export type Connection = Awaited<ReturnType<NonNullable<typeof connectionsQuery.queryFn>>>[number]

export const statusColors = { active: 'green', inactive: 'gray', error: 'red' } as const

/** Whether the user may change a connection: only then does the API return its limits. Source: contract 7.1. */
export const mayChange = ({ rate_limits: limits }: Connection) => limits !== null

/** The billing modes of an organization's connection; a personal connection has none. */
export const billingModes = [
  { value: 'org_pays', label: 'The organization' },
  { value: 'member_pays', label: 'The calling member' },
]

/** The value that stands for the user in an owner select. */
export const mine = 'mine'

/** The owner fields in the shape the API expects. */
export const ownerFields = (owner: string, billingMode: string) =>
  owner === mine ? {} : { scope: 'organization', organization_id: owner, billing_mode: billingMode }

type Tested = Awaited<
  ReturnType<Awaited<ReturnType<(typeof api.connections)[':id']['test']['$post']>>['json']>
>

export type TestResult = Pick<Tested, 'success' | 'message'> &
  Partial<Pick<Tested, 'latency_ms' | 'models_found'>>

/** Tests a connection with a request that costs nothing; a test that cannot be run counts as failed. */
export async function testOf(id: string): Promise<TestResult> {
  try {
    return await (await api.connections[':id'].test.$post({ param: { id } })).json()
  } catch (thrown) {
    return { success: false, message: thrown instanceof Error ? thrown.message : String(thrown) }
  }
}
