import type { Kysely } from 'kysely'
import type { LeaseStore } from './purses'
import { recall } from './recalls'
import { renewLeases } from './renew-leases'
import { returnLeases } from './return-leases'
import { findLease, takeLease } from './take-lease'
import type { Schema } from '../db/schema'
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
export const createLeaseStore = (db: Kysely<Schema>, { nodeId, nodes }: Options): LeaseStore => ({
  take: (lease) =>
    within(takeLease(db, { ...lease, nodeId, nodes: nodes(), lifeSeconds }), patienceMs),
  find: async (leaseId) => (await within(findLease(db, leaseId), patienceMs))?.amount,
  recall: (accountId) => within(recall(db, { accountId, nodeId }), patienceMs),
  giveBack: (returns, options) => within(returnLeases(db, returns, options), patienceMs),
  renew: (leaseIds) => within(renewLeases(db, leaseIds, lifeSeconds), patienceMs),
})
