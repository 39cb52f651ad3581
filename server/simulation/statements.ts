import type { SimulatedDatabase, Statement, StatementClient } from './database'
import type { Scheduler } from './scheduler'
import { StatementError } from './statement-error'
import { maxExpired } from '../src/ledger/end-leases'
import type { LeaseStatements } from '../src/ledger/lease-store'
import type { LeaseAnswer } from '../src/ledger/lease-answer'
import type { EventKey, LookedUpEvents } from '../src/ledger/look-up-events'
import type { ReferenceEvent, ReferenceLedger } from '../testing/ledger/reference-ledger'
import type { LeaseReclaim } from '../src/ledger/lease-reclaim'
import type { SweeperPorts } from '../src/ledger/sweeper'
import type { LeaseClaim } from '../src/ledger/take-lease'
import { chunkByAccount } from '../src/ledger/chunk-by-account'

/** Equal to `statement_timeout` of the pool. */
const timeoutMs = 5000
/** The accounts of one transaction, as in `booking/book-usage.ts`. */
const maxAccounts = 64

export interface DatabaseSide {
  database: SimulatedDatabase
  ledger: ReferenceLedger
  scheduler: Scheduler
  /** The number of live nodes, as in the table `node`. */
  nodes: () => number
  /** Called when events were booked, some of them for the first time. */
  onBooked: (events: readonly ReferenceEvent[], fresh: readonly ReferenceEvent[]) => void
  /** The last recall of each account. */
  recalls: Map<string, LeaseReclaim>
  /** The round trips of a booking after the one that locks its rows: until then they stay locked. 0 by default. */
  bookingRoundTrips?: number
  /** Called for each statement of a node, and each transaction. */
  onStatement?: (kind: StatementKind, nodeId: string) => void
}

/** The statements by which nodes use the ledger. */
export type StatementKind =
  | keyof LeaseStatements
  | 'book'
  | 'poll'
  | 'ping'
  | 'sweep'
  | 'end'
  | 'look up'

interface ClientSide extends StatementClient {
  nodeId: string
}

const accountLock = (id: string) => `account ${id}`
const leaseLock = (id: string) => `lease ${id}`

/** The statements about leases, bookings and sweeps of one process, on the simulated database. */
export class SimulatedStatements {
  readonly #server: DatabaseSide
  readonly #client: ClientSide

  constructor(server: DatabaseSide, client: ClientSide) {
    this.#server = server
    this.#client = client
  }

  #call<Result>(kind: StatementKind, statement: () => Statement<Result>): Promise<Result> {
    this.#server.onStatement?.(kind, this.#client.nodeId)
    return this.#server.database.call(this.#client, statement)
  }

  /** Locks accounts, then leases, each in the order of their ids. */
  #locksOf(leaseIds: readonly string[], accountIds: readonly string[] = []): string[] {
    const { ledger } = this.#server
    const owners = leaseIds.flatMap((id) => ledger.leases.get(id)?.accountId ?? [])
    const accounts = [...new Set([...accountIds, ...owners])].toSorted()
    return [...accounts.map(accountLock), ...[...new Set(leaseIds)].toSorted().map(leaseLock)]
  }

  get leases(): LeaseStatements {
    const { ledger, scheduler } = this.#server
    const { nodeId } = this.#client
    return {
      take: (claim, lockMs) =>
        this.#call('take', () => {
          const arrivedMs = scheduler.nowMs
          return {
            lockMs,
            locks: this.#locksOf([claim.leaseId], [claim.accountId]),
            apply: () => this.#take(claim, arrivedMs),
          }
        }),
      takeFree: (all, lockMs) => this.#takeFree(all, lockMs),
      fence: (lease, lockMs) =>
        this.#call('fence', () => ({
          lockMs,
          locks: this.#locksOf([lease.leaseId], [lease.accountId]),
          apply: () => ledger.fence({ ...lease, nodeId, nowMs: scheduler.nowMs }),
        })),
      giveBack: (returns, { isLast, isSkipping, lockMs }) =>
        this.#call('giveBack', () => {
          const free = returns.filter(({ leaseId }) => {
            const accountId = ledger.leases.get(leaseId)?.accountId
            return !(isSkipping && accountId !== undefined && this.#isLocked(accountId))
          })
          return {
            lockMs,
            locks: this.#locksOf(free.map(({ leaseId }) => leaseId)),
            apply: () => {
              const answers = ledger.giveBack(free, { isLast })
              for (const [id, { isApplied }] of answers) if (isApplied) this.#announceCredit(id)
              return answers
            },
          }
        }),
      renew: (leaseIds, lockMs) =>
        this.#call('renew', () => ({
          lockMs,
          locks: [...leaseIds].toSorted().map(leaseLock),
          apply: () => ledger.renew(leaseIds, scheduler.nowMs),
        })),
      isRefused: () => false,
      isUndone: (thrown) => thrown instanceof StatementError,
    }
  }

  #takeFree(all: readonly LeaseClaim[], lockMs: number): Promise<Map<string, LeaseAnswer>> {
    return this.#call('takeFree', () => {
      const free = all.filter(({ accountId }) => !this.#isLocked(accountId))
      const leases = free.map(({ leaseId }) => leaseId)
      const accounts = free.map(({ accountId }) => accountId)
      const arrivedMs = this.#server.scheduler.nowMs
      return {
        lockMs,
        locks: this.#locksOf(leases, accounts),
        apply: () => new Map(free.map((claim) => [claim.leaseId, this.#take(claim, arrivedMs)])),
      }
    })
  }

  #isLocked(accountId: string): boolean {
    return this.#server.database.isLocked(accountLock(accountId))
  }

  #take(claim: LeaseClaim, arrivedMs: number): LeaseAnswer {
    const { ledger, database, scheduler, nodes, recalls } = this.#server
    const { nodeId } = this.#client
    const { accountId, ageMs = 0 } = claim
    const demandMs = 2000 + 8 * this.#client.link.latencyMs
    const askedMs = arrivedMs - ageMs
    const taker = { nodeId, nodes: nodes(), demandMs, nowMs: scheduler.nowMs, askedMs }
    return ledger.take(
      { ...claim, ...taker },
      {
        onRecall: (at) => {
          recalls.set(`${accountId} ${nodeId}`, { accountId, by: nodeId, at })
          database.notify('recall', `${nodeId} ${accountId} ${at}`)
        },
        onCredit: () => database.notify('credit', accountId),
      },
    )
  }

  /** Runs a trivial statement. */
  ping(): Promise<void> {
    return this.#call('ping', () => ({ lockMs: timeoutMs, locks: [], apply: () => undefined }))
  }

  /** Reads the recalls of other nodes in the last ten seconds. */
  recentReclaims(): Promise<LeaseReclaim[]> {
    const { recalls, scheduler } = this.#server
    return this.#call('poll', () => ({
      lockMs: timeoutMs,
      locks: [],
      apply: () =>
        [...recalls.values()].filter(
          ({ by, at }) =>
            by !== this.#client.nodeId && Number(at) / 1000 > scheduler.nowMs - 10_000,
        ),
    }))
  }

  get sweeps(): SweeperPorts {
    return {
      findExpired: () =>
        this.#call('sweep', () => ({
          lockMs: timeoutMs,
          locks: [],
          apply: () => this.#expired(),
        })),
      end: (ids) => this.#end(ids, 'swept'),
    }
  }

  /** Reads as `findExpiredLeases` does. */
  #expired() {
    const { ledger, scheduler } = this.#server
    const { nowMs } = scheduler
    return [...ledger.active]
      .filter(([, { expiresAtMs }]) => expiresAtMs < nowMs)
      .toSorted(([, one], [, other]) => one.expiresAtMs - other.expiresAtMs)
      .slice(0, maxExpired)
      .map(([id, { expiresAtMs }]) => ({
        id,
        expires_at: new Date(Math.floor(expiresAtMs)),
        isOverdue: expiresAtMs < nowMs - 60_000,
      }))
  }

  /** Ends the leases of an earlier start of this node, once its journal is booked. */
  endLeasesOf(nodeId: string): Promise<string[]> {
    const { ledger } = this.#server
    const ids = [...ledger.active].flatMap(([id, lease]) => (lease.nodeId === nodeId ? id : []))
    return this.#end(ids, 'closed')
  }

  #end(ids: readonly string[], state: 'swept' | 'closed'): Promise<string[]> {
    const { ledger, scheduler } = this.#server
    return this.#call('end', () => ({
      lockMs: timeoutMs,
      locks: this.#locksOf(ids),
      apply: () => {
        const due = ids.filter((id) => {
          const lease = ledger.leases.get(id)
          if (lease?.state !== 'active') return false
          return state === 'closed' || lease.expiresAtMs < scheduler.nowMs - 60_000
        })
        ledger.end(due, state)
        for (const id of due) this.#announceCredit(id)
        return due
      },
    }))
  }

  /** Books as `booking/book-usage.ts` does, a limited number of accounts for each transaction. */
  async book(events: readonly ReferenceEvent[]): Promise<void> {
    const all = events.map((charge) => ({ charge }))
    for (const chunk of chunkByAccount(all, maxAccounts)) {
      await this.#bookChunk(chunk.map(({ charge }) => charge))
    }
  }

  #bookChunk(events: readonly ReferenceEvent[]): Promise<void> {
    const { ledger, onBooked, onStatement, database, bookingRoundTrips = 0 } = this.#server
    const { process, link, nodeId } = this.#client
    const remainingMs = bookingRoundTrips * 2 * link.latencyMs
    const isGone = () => !process.isAlive || this.#server.scheduler.nowMs < link.cutUntilMs
    onStatement?.('book', nodeId)
    const client = { process, link, timeoutMs: timeoutMs + 1000 + remainingMs }
    return database.call(client, () => ({
      lockMs: timeoutMs,
      locks: this.#locksOf(
        events.map(({ leaseId }) => leaseId),
        events.map(({ accountId }) => accountId),
      ),
      ...(remainingMs > 0 && { transaction: { remainingMs, isGone } }),
      apply: () => {
        const fresh = events.filter(({ id }) => !ledger.booked.has(id))
        ledger.settle(events)
        onBooked(events, fresh)
      },
    }))
  }

  /** Looks events up as `lookUpEvents` does. */
  lookUp(events: readonly Pick<EventKey, 'id'>[]): Promise<LookedUpEvents> {
    const { ledger } = this.#server
    const ids = events.map(({ id }) => id)
    return this.#call('look up', () => ({
      lockMs: timeoutMs,
      locks: [],
      apply: () => ({
        knownIds: new Set(ids.filter((id) => ledger.booked.has(id))),
        missingIds: new Set(ids.filter((id) => !ledger.booked.has(id))),
      }),
    }))
  }

  #announceCredit(leaseId: string): void {
    const accountId = this.#server.ledger.leases.get(leaseId)?.accountId
    if (accountId !== undefined) this.#server.database.notify('credit', accountId)
  }
}
