import { eventually } from '../../../server/testing/eventually'
import type { Customer, Gateway } from '../../harness/server'

/** The requests per minute of the customers of `limitedCustomer`. */
export const limit = 60

/** Creates a customer with that limit, and one of four concurrent requests. */
export async function limitedCustomer(node: Gateway): Promise<Customer> {
  const fields = { name: crypto.randomUUID(), requests_per_minute: limit, concurrent_requests: 4 }
  const plan = await node.admin('POST', '/plans', fields)
  return node.customer({}, { plan_id: plan['id'] })
}

/** When each node reported itself to the store of limits last, by the name that it has there. */
export type NodeReports = ReadonlyMap<string, number>

/**
 * Waits until nodes know each other, and reach the store of limits: a node knows from the answer to its report which others
 * there are. The second report from now on follows the answer to the first.
 */
export async function untilReported(
  readReports: () => Promise<NodeReports>,
  nodes: number,
): Promise<void> {
  // All are listed before their next reports are answered.
  await eventually(async () => (await readReports()).size >= nodes)
  for (const _report of ['first', 'second']) {
    const before = await readReports()
    await eventually(async () => {
      const reports = [...(await readReports())]
      return reports.filter(([node, atMs]) => before.get(node) !== atMs).length >= nodes
    })
  }
}
