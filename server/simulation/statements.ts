import { StatementError, type Link, type SimulatedDatabase, type Statement } from './database'
import type { Scheduler, SimulatedProcess } from './scheduler'
import type { LeaseStatements } from '../src/ledger/lease-store'
import type { LeaseAnswer } from '../src/ledger/lease-answer'
import type { ReferenceEvent, ReferenceLedger } from '../testing/ledger/reference-ledger'
import type { LeaseReclaim } from '../src/ledger/lease-reclaim'
import type { SweeperPorts } from '../src/ledger/sweeper'
import type { LeaseWanted } from '../src/ledger/take-lease'

/** Equal to `statement_timeout` of the pool. */
const timeoutMs = 5000

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
}

interface ClientSide {
  process: SimulatedProcess
  link: Link
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

  #call<Result>(statement: () => Statement<Result>): Promise<Result> {
    const { process, link } = this.#client
    return this.#server.database.call(process, link, statement)
  }

  /** Locks accounts, then leases, each in the order of their ids. */
  #locksOf(leaseIds: readonly string[], accountIds: readonly string[] = []): string[] {
    const { ledger } = this.#server
    const owners = leaseIds.flatMap((id) => ledger.leases.get(id)?.accountId ?? [])
    const accounts = [...new Set([...accountIds, ...owners])].toSorted()
    return [...accounts.map(accountLock), ...[...new Set(leaseIds)].toSorted().map(leaseLock)]
  }

  get leases(): LeaseStatements {
    const { ledger, scheduler, database } = this.#server
    const { nodeId } = this.#client
    return {
      take: (wanted, lockMs) =>
        this.#call(() => ({
          lockMs,
          locks: this.#locksOf([wanted.leaseId], [wanted.accountId]),
          apply: () => this.#take(wanted),
        })),
      takeFree: (all, lockMs) => this.#takeFree(all, lockMs),
      fence: (lease, lockMs) =>
        this.#call(() => ({
          lockMs,
          locks: this.#locksOf([lease.leaseId], [lease.accountId]),
          apply: () => ledger.fence({ ...lease, nodeId, nowMs: scheduler.nowMs }),
        })),
      giveBack: (returns, { isLast, isSkipping, lockMs }) =>
        this.#call(() => {
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
        this.#call(() => ({
          lockMs,
          locks: [...leaseIds].toSorted().map(leaseLock),
          apply: () => ledger.renew(leaseIds, scheduler.nowMs),
        })),
      withdraw: (accountId) =>
        this.#call(() => ({
          lockMs: timeoutMs,
          locks: [],
          apply: () => {
            if (ledger.withdraw(accountId, nodeId)) database.notify('credit', accountId)
          },
        })),
      isRefused: () => false,
      isUndone: (thrown) => thrown instanceof StatementError,
    }
  }

  #takeFree(all: readonly LeaseWanted[], lockMs: number): Promise<Map<string, LeaseAnswer>> {
    return this.#call(() => {
      const free = all.filter(({ accountId }) => !this.#isLocked(accountId))
      const leases = free.map(({ leaseId }) => leaseId)
      const accounts = free.map(({ accountId }) => accountId)
      return {
        lockMs,
        locks: this.#locksOf(leases, accounts),
        apply: () => new Map(free.map((wanted) => [wanted.leaseId, this.#take(wanted)])),
      }
    })
  }

  #isLocked(accountId: string): boolean {
    return this.#server.database.isLocked(accountLock(accountId))
  }

  #take(wanted: LeaseWanted): LeaseAnswer {
    const { ledger, database, scheduler, nodes, recalls } = this.#server
    const { nodeId } = this.#client
    const { accountId } = wanted
    const demandMs = 2000 + 8 * this.#client.link.latencyMs
    const taker = { nodeId, nodes: nodes(), demandMs, nowMs: scheduler.nowMs }
    return ledger.take({ ...wanted, ...taker }, () => {
      const at = BigInt(Math.floor(scheduler.nowMs * 1000))
      recalls.set(`${accountId} ${nodeId}`, { accountId, by: nodeId, at })
      database.notify('recall', `${nodeId} ${accountId} ${at}`)
    })
  }

  /** Runs a trivial statement. */
  ping(): Promise<void> {
    return this.#call(() => ({ lockMs: timeoutMs, locks: [], apply: () => undefined }))
  }

  /** Reads the recalls of other nodes in the last ten seconds. */
  recalledLately(): Promise<LeaseReclaim[]> {
    const { recalls, scheduler } = this.#server
    return this.#call(() => ({
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
    const { ledger, scheduler } = this.#server
    return {
      expired: () =>
        this.#call(() => ({
          lockMs: timeoutMs,
          locks: [],
          apply: () =>
            [...ledger.active].flatMap(([id, { expiresAtMs }]) =>
              expiresAtMs < scheduler.nowMs
                ? {
                    id,
                    expires_at: new Date(Math.floor(expiresAtMs)),
                    isOverdue: expiresAtMs < scheduler.nowMs - 60_000,
                  }
                : [],
            ),
        })),
      end: (ids) => this.#end(ids, 'swept'),
    }
  }

  /** Ends the leases of an earlier start of this node, once its journal is booked. */
  endLeasesOf(nodeId: string): Promise<string[]> {
    const { ledger } = this.#server
    const ids = [...ledger.active].flatMap(([id, lease]) => (lease.nodeId === nodeId ? id : []))
    return this.#end(ids, 'closed')
  }

  #end(ids: readonly string[], state: 'swept' | 'closed'): Promise<string[]> {
    const { ledger, scheduler } = this.#server
    return this.#call(() => ({
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

  book(events: readonly ReferenceEvent[]): Promise<void> {
    const { ledger, onBooked } = this.#server
    return this.#call(() => ({
      lockMs: timeoutMs,
      locks: this.#locksOf(
        events.map(({ leaseId }) => leaseId),
        events.map(({ accountId }) => accountId),
      ),
      apply: () => {
        const fresh = events.filter(({ id }) => !ledger.booked.has(id))
        ledger.settle(events)
        onBooked(events, fresh)
      },
    }))
  }

  #announceCredit(leaseId: string): void {
    const accountId = this.#server.ledger.leases.get(leaseId)?.accountId
    if (accountId !== undefined) this.#server.database.notify('credit', accountId)
  }
}
