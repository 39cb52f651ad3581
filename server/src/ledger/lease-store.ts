import type { Kysely } from 'kysely'
import { LeaseBatches } from './lease-batches'
import type { LeaseStore } from './purses'
import { recall } from './recalls'
import { renewLeases } from './renew-leases'
import { returnLeases } from './return-leases'
import { findLease, takeLease, takeLeases } from './take-lease'
import type { Schema } from '../db/schema'
import { isRefused } from '../db/violation'
import { within } from '../within'

/** What a lease is good for without being renewed. */
const lifeSeconds = 60
/** A caller is refused within a second. */
const patienceMs = 900

interface Options {
  nodeId: string
  /** How many nodes are alive. */
  nodes: () => number
}

/** The statements of leases as one node uses them, each with a deadline. */
export function createLeaseStore(db: Kysely<Schema>, { nodeId, nodes }: Options): LeaseStore {
  const taker = () => ({ nodeId, nodes: nodes(), lifeSeconds })
  const batches = new LeaseBatches({
    takeFree: (wanted) => takeLeases(db, wanted, taker()),
    take: (wanted) => takeLease(db, { ...wanted, ...taker() }),
    isRefused,
    patienceMs,
  })
  return {
    take: (wanted) => batches.take(wanted),
    find: async (leaseId) => (await within(findLease(db, leaseId), patienceMs))?.amount,
    recall: (accountId) => within(recall(db, { accountId, nodeId }), patienceMs),
    giveBack: (returns, options) => within(returnLeases(db, returns, options), patienceMs),
    renew: (leaseIds) => within(renewLeases(db, leaseIds, lifeSeconds), patienceMs),
  }
}
