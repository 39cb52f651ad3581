import type { AccountObserver, PendingRequest } from './accounts'
import type { SimulatedDatabase } from './database'
import type { SimulatedNode } from './node'
import type { Scheduler } from './scheduler'
import type { ReferenceLease } from '../testing/ledger/reference-leases'
import type { ReferenceEvent, ReferenceLedger } from '../testing/ledger/reference-ledger'

interface ViolationDependencies {
  scheduler: Scheduler
  database: SimulatedDatabase
  ledger: ReferenceLedger
  observer: AccountObserver
  nodes: readonly SimulatedNode[]
  /** Whether no fault of the run justifies a failed request. */
  isPatient: boolean
  /** The longest that a request may wait for its hold where no fault is at work, in milliseconds. */
  maxWaitMs: number
  /** The end of the last fault so far, in milliseconds of simulated time. */
  faultsUntilMs: () => number
}

/** A broken promise, and its time. */
export interface Violation {
  atMs: number
  promise: string
  details: string
}

interface Disagreement {
  figures: string
  sinceMs: number
}

const maxListed = 20
/** The interval of renewals (20 s), which synchronize a node's figures, and a margin. */
const renewalMs = 25_000
/** A lease unknown to its node is not renewed: it expires, and is swept. */
const strandedMs = 150_000
/** After a fault nodes wait for each other until a dead one is known, and for what piled up. */
const recoveryMs = 60_000

/** Checks the promises at every moment, and collects violations. */
export class Violations {
  readonly #dependencies: ViolationDependencies
  readonly found: Violation[] = []
  readonly #disagreements = new Map<string, Disagreement>()
  readonly #stranded = new Map<string, number>()

  constructor(dependencies: ViolationDependencies) {
    this.#dependencies = dependencies
  }

  note(promise: string, details: string): void {
    if (this.found.length < maxListed) {
      this.found.push({ atMs: this.#dependencies.scheduler.nowMs, promise, details })
    }
  }

  /** Called when an account receives credit, which the database announces. */
  announce(accountId: string): void {
    this.#dependencies.database.notify('credit', accountId)
  }

  /** Checks a rejection for want of credit: it must have been justified at some moment. */
  checkRefusal({ accountId, floor, minimum }: PendingRequest, minAvailable: bigint): void {
    const required = floor > minimum ? floor : minimum
    if (minAvailable < required) return
    this.note('unjustified refusal', `${accountId} had ${minAvailable}, ${required} needed`)
  }

  /** Checks that a request waited no longer for its verdict than without faults, long after the last one. */
  checkWait({ accountId, sinceMs }: PendingRequest): void {
    const { scheduler, maxWaitMs, faultsUntilMs } = this.#dependencies
    const waitedMs = scheduler.nowMs - sinceMs
    if (waitedMs <= maxWaitMs || sinceMs < faultsUntilMs() + recoveryMs) return
    this.note('late verdict', `${accountId} after ${Math.round(waitedMs)} ms`)
  }

  checkFailure(thrown: unknown): void {
    if (this.#dependencies.isPatient) this.note('avoidable failure', String(thrown))
  }

  /** Checks that a hold is backed by the ledger's reservation for its lease. */
  checkHold(
    leaseId: string,
    { accountId, node }: { accountId: string; node: SimulatedNode },
  ): void {
    const { ledger, observer } = this.#dependencies
    const lease = ledger.active.get(leaseId)
    const { held, unbooked } = observer.useOf(leaseId)
    const unspent = lease ? lease.amount - lease.spent : 0n
    if (held + unbooked <= unspent) return
    this.note(
      'hold without credit',
      `${node.name}: ${leaseId} of ${accountId} has ${unspent}, ${held} held and ${unbooked} not booked`,
    )
  }

  /** Checks that costs within their holds are paid, unless their lease had to be freed meanwhile. */
  checkBooked(events: readonly ReferenceEvent[], mayBeWrittenOff: ReadonlySet<string>): void {
    const { ledger } = this.#dependencies
    for (const { id, leaseId } of events) {
      const writtenOff = ledger.booked.get(id)?.writtenOff ?? 0n
      if (writtenOff === 0n || mayBeWrittenOff.has(id)) continue
      if (ledger.leases.get(leaseId)?.state === 'swept') continue
      this.note(
        'written off',
        `${writtenOff} of ${id}, ${leaseId} ${ledger.leases.get(leaseId)?.state}`,
      )
    }
    for (const violation of ledger.violations()) this.note('ledger out of order', violation)
  }

  /** Checks periodically that nodes and database agree, within a renewal. */
  compareFigures(): void {
    const known = new Set<string>()
    for (const node of this.#dependencies.nodes) {
      for (const lease of node.serving?.credit.leases() ?? []) {
        known.add(lease.leaseId)
        this.#compareSlice(node, lease)
      }
    }
    for (const [id, lease] of this.#dependencies.ledger.active) this.#checkOwned(id, lease, known)
  }

  #compareSlice(
    node: SimulatedNode,
    {
      leaseId,
      amount: kept,
      offeredAmount,
    }: { leaseId: string; amount: bigint; offeredAmount: bigint },
  ): void {
    const amount = kept + offeredAmount
    const { ledger, scheduler, database, isPatient } = this.#dependencies
    const there = ledger.active.get(leaseId)?.amount
    const isEqual = there === amount || !node.isReachable || !database.isReachable
    if (isEqual) return void this.#disagreements.delete(leaseId)
    const figures = `${amount} here, ${there} there`
    const known = this.#disagreements.get(leaseId)
    if (known?.figures !== figures) {
      this.#disagreements.set(leaseId, { figures, sinceMs: scheduler.nowMs })
    } else if (isPatient && scheduler.nowMs - known.sinceMs > renewalMs) {
      this.note('figures differ', `${node.name} ${leaseId}: ${figures}`)
    }
  }

  /** Checks that a lease unknown to its node is swept soon. */
  #checkOwned(id: string, lease: ReferenceLease, known: ReadonlySet<string>): void {
    const { nodes, database, scheduler } = this.#dependencies
    const owner = nodes.find(({ serving }) => serving?.nodeId === lease.nodeId)
    const isFine = known.has(id) || !owner?.isReachable || !database.isReachable
    if (isFine) return void this.#stranded.delete(id)
    const sinceMs = this.#stranded.get(id) ?? scheduler.nowMs
    this.#stranded.set(id, sinceMs)
    if (scheduler.nowMs - sinceMs <= strandedMs) return
    this.note('lease without node', `${id} of ${lease.accountId}: ${lease.amount - lease.spent}`)
  }

  /** Checks the end, after recovery and idle time: every lease is returned, every answered request booked once. */
  checkEnd(delivered: ReadonlyMap<string, bigint>, toppedUp: bigint): void {
    const { ledger } = this.#dependencies
    for (const [id, { leased }] of ledger.accounts) {
      if (leased !== 0n) this.note('lease not returned', `${id} has ${leased} leased`)
    }
    for (const [id, cost] of delivered) {
      const booked = ledger.booked.get(id)
      if (!booked) this.note('missing', id)
      else if (booked.charged + booked.writtenOff !== cost) this.note('wrong amount', id)
    }
    let posted = 0n
    for (const account of ledger.accounts.values()) posted += account.posted
    let charged = 0n
    for (const booked of ledger.booked.values()) charged += booked.charged
    if (posted !== toppedUp - charged)
      this.note('sum', `${posted} left of ${toppedUp}, ${charged} charged`)
  }
}
