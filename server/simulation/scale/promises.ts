import type { DecisionLog } from './decision-log'
import type { LimitKind, Population } from './population'
import type { RegionLoss } from './profile'
import type { AccountObserver, PendingRequest } from '../accounts'
import { falseRefusalsOf, overshootOf } from '../limits-observer'
import type { Violation } from '../violations'
import type { Scheduler } from '../scheduler'
import type { Hold } from '../../src/ledger/local-lease'
import type { ReferenceEvent, ReferenceLedger } from '../../testing/ledger/reference-ledger'
import type { SimulatedSliceServer } from '../../testing/limits/simulated-slice-store'

interface Dependencies {
  scheduler: Scheduler
  ledger: ReferenceLedger
  observer: AccountObserver
  population: Population
  sliceServer: SimulatedSliceServer
  /** Whether a process has lost its power: others take its units over when they need them. */
  isDead: (nodeId: string) => boolean
}

/** A request that a limit rejected although it fitted. */
export interface FalseRefusal {
  atMs: number
  kind: LimitKind
  account: number
}

/** The units beyond a limit that were in use at a time. */
export interface Overshoot {
  kind: LimitKind
  account: number
  limit: number
  units: number
}

const maxListed = 20

/** Checks the promises of a run at scale. */
export class ScalePromises {
  readonly #dependencies: Dependencies
  readonly #counts = new Map<string, number>()
  /** The first ones that were broken. */
  readonly found: Violation[] = []

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
  }

  /** How often each promise was broken. */
  get broken(): ReadonlyMap<string, number> {
    return this.#counts
  }

  #note(promise: string, details: string): void {
    this.#counts.set(promise, (this.#counts.get(promise) ?? 0) + 1)
    if (this.found.length < maxListed)
      this.found.push({ atMs: this.#dependencies.scheduler.nowMs, promise, details })
  }

  /** Checks a rejection for want of credit: it must have been justified at some moment. */
  checkRefusal({ accountId, floor, minimum }: PendingRequest, minAvailable: bigint): void {
    const required = floor > minimum ? floor : minimum
    if (minAvailable < required) return
    this.#note('unjustified refusal', `${accountId} had ${minAvailable}, ${required} needed`)
  }

  /** Checks that a hold is backed by the ledger's reservation for its lease. */
  checkHold({ leaseId }: Hold): void {
    const { ledger, observer } = this.#dependencies
    const lease = ledger.active.get(leaseId)
    const { held, unbooked } = observer.useOf(leaseId)
    const unspent = lease ? lease.amount - lease.spent : 0n
    if (held + unbooked <= unspent) return
    this.#note(
      'hold without credit',
      `${leaseId} has ${unspent}, ${held} held, ${unbooked} unbooked`,
    )
  }

  /** Checks the accounts of booked events, and that leases that were not swept paid for them. */
  checkBooked(events: readonly ReferenceEvent[]): void {
    const { ledger } = this.#dependencies
    for (const { id, leaseId } of events) {
      const writtenOff = ledger.booked.get(id)?.writtenOff ?? 0n
      if (writtenOff === 0n || ledger.leases.get(leaseId)?.state === 'swept') continue
      this.#note('written off', `${writtenOff} of ${id}`)
    }
    this.#checkLedger(new Set(events.map(({ accountId }) => accountId)))
  }

  #checkLedger(accountIds: Iterable<string>): void {
    for (const violation of this.#dependencies.ledger.violations(accountIds))
      this.#note('ledger out of order', violation)
  }

  /**
   * Checks the limits of the whole run. Returns the requests that were rejected although they fitted, and the limits that
   * were exceeded, which is a broken promise unless nodes were cut off. `noticeMs` is the time until other nodes know what
   * became free.
   */
  checkLimits(log: DecisionLog, { noticeMs, loss }: { noticeMs: number; loss?: RegionLoss }) {
    const { population } = this.#dependencies
    const falseRefusals: FalseRefusal[] = []
    const overshoots: Overshoot[] = []
    const accounts = new Set<number>()
    for (const { account, kind, decisions } of log.byLimit()) {
      accounts.add(account)
      const limit = population.limitOf(account, kind)
      const outcome = { profile: { kind, limit }, decisions }
      const units = overshootOf(outcome)
      if (units > 0) overshoots.push({ kind, account, limit, units })
      if (units > 0 && loss !== 'cut off')
        this.#note('beyond the limit', `${kind} of ${account}: ${units}`)
      if (decisions.every(({ isAdmitted }) => isAdmitted)) continue
      for (const { atMs } of falseRefusalsOf(outcome, noticeMs))
        falseRefusals.push({ atMs, kind, account })
    }
    return { falseRefusals, overshoots, accountsSeen: accounts.size }
  }

  /** Checks the end, after a time without requests: all credit and all units are returned. */
  checkEnd(): void {
    const { ledger, sliceServer, isDead } = this.#dependencies
    this.#checkLedger(ledger.accounts.keys())
    for (const [id, { leased }] of ledger.accounts) {
      if (leased !== 0n) this.#note('lease not returned', `${id} has ${leased} leased`)
    }
    for (const [bucket, document] of sliceServer.documents()) {
      let units = 0
      for (const [node, slice] of Object.entries(document)) if (!isDead(node)) units += slice.units
      if (units > 0) this.#note('slice not returned', `${units} of ${bucket}`)
    }
  }

  /** Checks that each answered request is booked with its cost; costs in nano-dollars by event. */
  checkDelivered(delivered: ReadonlyMap<string, number>): void {
    const { ledger } = this.#dependencies
    for (const [id, cost] of delivered) {
      const booked = ledger.booked.get(id)
      if (!booked) this.#note('not booked', id)
      else if (Number(booked.charged + booked.writtenOff) !== cost) this.#note('wrong amount', id)
    }
  }

  /** Checks that balances have fallen by what was charged. */
  checkSums(toppedUp: bigint): void {
    const { ledger } = this.#dependencies
    let posted = 0n
    for (const account of ledger.accounts.values()) posted += account.posted
    let charged = 0n
    for (const booked of ledger.booked.values()) charged += booked.charged
    if (posted !== toppedUp - charged)
      this.#note('sum', `${posted} left of ${toppedUp}, ${charged} charged`)
  }
}
