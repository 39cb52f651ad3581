import { queryOptions } from '@tanstack/react-query'
import { api, bodyOf, type Schemas } from '../../api/client'

/** Connections visible to the account. */
export const connectionsQuery = queryOptions({
  queryKey: ['connections'],
  queryFn: async () => {
    const query = { limit: 100 }
    return (await bodyOf(api.GET('/api/connections', { params: { query } }))).connections
  },
})

export type Connection = Schemas['Connection']

export const statusColors = { active: 'green', inactive: 'gray', error: 'red' } as const

/** Whether the user may change a connection: only then does the API return its limits. Source: contract 7.1. */
export const mayChange = ({ rate_limits: limits }: Connection) => limits !== null

export type BillingMode = NonNullable<Connection['billing_mode']>

/** The billing modes of an organization's connection; a personal connection has none. */
export const billingModes = [
  { value: 'org_pays', label: 'The organization' },
  { value: 'member_pays', label: 'The calling member' },
]

/** The value that stands for the user in an owner select. */
export const mine = 'mine'

/** The owner fields in the shape the API expects. */
export const ownerFields = (owner: string, billing_mode: BillingMode) =>
  owner === mine ? {} : { scope: 'organization' as const, organization_id: owner, billing_mode }

type Tested = Schemas['ConnectionTest']

export type TestResult = Pick<Tested, 'success' | 'message'> &
  Partial<Pick<Tested, 'latency_ms' | 'models_found'>>

/** Tests a connection with a request that costs nothing; a test that cannot be run counts as failed. */
export async function testOf(id: string): Promise<TestResult> {
  try {
    return await bodyOf(api.POST('/api/connections/{id}/test', { params: { path: { id } } }))
  } catch (thrown) {
    return { success: false, message: thrown instanceof Error ? thrown.message : String(thrown) }
  }
}
