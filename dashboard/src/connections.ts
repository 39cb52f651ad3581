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

export const statusColors = { active: 'green', inactive: 'gray', error: 'red' } as const

/** Limits are told to those alone who may change the connection. Source: contract 7.1. */
export const mayChange = ({ rate_limits: limits }: Connection) => limits !== null

/** Who pays for what an organization's connection serves; one's own has no such choice. */
export const billingModes = [
  { value: 'org_pays', label: 'The organization' },
  { value: 'member_pays', label: 'The member who calls' },
]

/** What stands for oneself where somebody may choose whose something is. */
export const mine = 'mine'

/** Fields of whose something is, as the service takes them. */
export const ownerFields = (owner: string, billingMode: string) =>
  owner === mine ? {} : { scope: 'organization', organization_id: owner, billing_mode: billingMode }

type Tested = Awaited<
  ReturnType<Awaited<ReturnType<(typeof api.connections)[':id']['test']['$post']>>['json']>
>

export type TestResult = Pick<Tested, 'success' | 'message'> &
  Partial<Pick<Tested, 'latency_ms' | 'models_found'>>

/** Tests a connection with a call that costs nothing; a test that could not be made has failed. */
export async function testOf(id: string): Promise<TestResult> {
  try {
    return await (await api.connections[':id'].test.$post({ param: { id } })).json()
  } catch (thrown) {
    return { success: false, message: thrown instanceof Error ? thrown.message : String(thrown) }
  }
}
