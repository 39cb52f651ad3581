import { fenceLease, type FencedLease } from './fence-lease'
import type { LeaseAnswer } from './lease-answer'
import { LeaseBatches } from './lease-batches'
import { renewLeases, type RenewedLease } from './renew-leases'
import { returnLeases, type Return, type ReturnAnswer } from './return-leases'
import { takeLeases, type LeaseClaim } from './take-lease'
import type { Database } from '../platform/db/database'
import type { DatabaseLiveness } from '../platform/db/liveness'
import { isRefused, isUndone } from '../platform/db/violation'

/** The life of a lease that is not renewed. */
const lifeSeconds = 60
/**
 * The server gives up on a lock before the node gives up on the statement: then the node knows that nothing
 * changed.
 */
const lockMs = 1000
/** A booking in progress holds locks for several round trips. */
const lockRoundTrips = 8
/**
 * Bookings of distant nodes hold an account for a second each, one after the other. A node that gave up sooner than its
 * turn comes would be last in line again and again.
 */
const turnMs = 4000
/** While the database answers others, a statement may wait for a lock, then for its commit. */
const maxStatementMs = 10_000
/** A node that waits for credit repeats its demand sooner; the demand of a node that died lapses by then. */
const demandMs = 2000
const demandRoundTrips = 4

interface Options {
  nodeId: string
  /** Returns the number of live nodes. */
  nodes: () => number
}

/** Statements about leases, without deadlines of the caller's; `lockMs` bounds waits for locks at the server. */
export interface LeaseStatements {
  /** Takes leases of accounts that are not locked, in one commit. Resolves with answers by lease. */
  takeFree: (claims: readonly LeaseClaim[], lockMs: number) => Promise<Map<string, LeaseAnswer>>
  take: (claim: LeaseClaim, lockMs: number) => Promise<LeaseAnswer | undefined>
  fence: (lease: FencedLease, lockMs: number) => Promise<LeaseAnswer | undefined>
  giveBack: (
    returns: readonly Return[],
    options: { isLast: boolean; isSkipping: boolean; lockMs: number },
  ) => Promise<Map<string, ReturnAnswer>>
  renew: (leaseIds: readonly string[], lockMs: number) => Promise<Map<string, RenewedLease>>
  /** Returns whether a statement failed because of its content, as it would again. */
  isRefused: (thrown: unknown) => boolean
  /** Returns whether a statement that failed has certainly changed nothing. */
  isUndone: (thrown: unknown) => boolean
}

/** The ledger's database as seen by one node. Every call has a deadline, and rejects beyond it. */
export interface LeaseStore {
  take: (claim: LeaseClaim) => Promise<LeaseAnswer | undefined>
  fence: (lease: FencedLease) => Promise<LeaseAnswer | undefined>
  /** Resolves with answers by lease; the answer is missing for a lease whose account was locked. */
  giveBack: (
    returns: readonly Return[],
    options: { isLast: boolean; isSkipping: boolean },
  ) => Promise<ReadonlyMap<string, ReturnAnswer>>
  /** Resolves with the leases that are still active. */
  renew: (leaseIds: readonly string[]) => Promise<ReadonlyMap<string, RenewedLease>>
  /** Returns whether a call that failed has certainly changed nothing. */
  isUndone: (thrown: unknown) => boolean
  /** Resolves with whether the database answers at all. Never rejects. */
  isAlive: () => Promise<boolean>
  /** The round trip to the database, in milliseconds. */
  readonly roundTripMs: number
}

/** Creates the lease statements of one node on a PostgreSQL database. */
export function createLeaseStatements(
  { query: db, liveness }: Pick<Database, 'query' | 'liveness'>,
  { nodeId, nodes }: Options,
): LeaseStatements {
  const taker = () => {
    const demandSeconds = (demandMs + demandRoundTrips * liveness.roundTripMs) / 1000
    return { nodeId, nodes: nodes(), lifeSeconds, demandSeconds }
  }
  return {
    takeFree: (claims, waitMs) =>
      takeLeases(db, claims, { ...taker(), isSkipping: true, lockMs: waitMs }),
    take: async (claim, waitMs) => {
      const leases = await takeLeases(db, [claim], {
        ...taker(),
        isSkipping: false,
        lockMs: waitMs,
      })
      return leases.get(claim.leaseId)
    },
    fence: (lease, waitMs) => fenceLease(db, lease, { nodeId, lockMs: waitMs }),
    giveBack: (returns, options) => returnLeases(db, returns, options),
    renew: (leaseIds, waitMs) => renewLeases(db, leaseIds, { lifeSeconds, lockMs: waitMs }),
    isRefused,
    isUndone,
  }
}

/** Creates the lease store of one node; each statement has a deadline that grows with the database's round trip. */
export function createLeaseStore(
  statements: LeaseStatements,
  liveness: Pick<DatabaseLiveness, 'watch' | 'isAlive' | 'roundTripMs'>,
): LeaseStore {
  const waitMs = () => Math.ceil(lockMs + lockRoundTrips * liveness.roundTripMs)
  const watch = <Answer>(statement: Promise<Answer>) =>
    liveness.watch(statement, maxStatementMs + 2 * waitMs())
  const batches = new LeaseBatches({
    takeFree: (claims) => statements.takeFree(claims, waitMs()),
    take: (claim) => statements.take(claim, Math.max(turnMs, waitMs())),
    isRefused: (thrown) => statements.isRefused(thrown),
    watch,
    timeoutMs: 2 * maxStatementMs,
  })
  return {
    take: (claim) => batches.take(claim),
    fence: (lease) => watch(statements.fence(lease, waitMs())),
    giveBack: (returns, options) =>
      watch(statements.giveBack(returns, { ...options, lockMs: waitMs() })),
    renew: (leaseIds) => watch(statements.renew(leaseIds, waitMs())),
    isUndone: (thrown) => statements.isUndone(thrown),
    isAlive: () => liveness.isAlive(),
    get roundTripMs() {
      return liveness.roundTripMs
    },
  }
}
