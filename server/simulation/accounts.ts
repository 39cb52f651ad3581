import { Availability } from './availability'
import type { Scheduler } from './scheduler'
import type { ReferenceLease } from '../testing/ledger/reference-leases'
import type { ReferenceEvent, ReferenceLedger } from '../testing/ledger/reference-ledger'

/** A request that waits for its hold. Amounts are nano-dollars. */
export interface PendingRequest {
  accountId: string
  full: bigint
  floor: bigint
  minimum: bigint
  sinceMs: number
  /** Whether its node still processes it. */
  isAlive: () => boolean
}

/** A rejected request, while other requests waited that may turn out to have had the credit. */
interface OpenRefusal {
  request: PendingRequest
  refusedAtMs: number
  others: Set<PendingRequest>
  conclude: (minAvailable: bigint) => void
}

interface LeaseUse {
  held: bigint
  unbooked: bigint
}

interface ObserverOptions {
  /** Tells whether the node of a lease can return its free part. */
  canReturn: (leaseId: string, lease: ReferenceLease) => boolean
  /** The maximum age of an answer relative to its request, in milliseconds. */
  slackMs: number
}

/**
 * Computes the credit that accounts can spend, as an observer with the state of all nodes: the balance less the
 * holds of running requests and unbooked settlements, without leases of nodes that cannot return them.
 */
export class AccountObserver {
  readonly #ledger: ReferenceLedger
  readonly #scheduler: Scheduler
  readonly #options: ObserverOptions
  readonly #uses = new Map<string, LeaseUse>()
  /** Settled costs that were not paid from a lease, by account and event. */
  readonly #beyond = new Map<string, Map<string, bigint>>()
  readonly #pending = new Map<string, Set<PendingRequest>>()
  readonly #refused = new Map<string, Set<OpenRefusal>>()
  readonly #availability = new Map<string, Availability>()

  constructor(ledger: ReferenceLedger, scheduler: Scheduler, options: ObserverOptions) {
    this.#ledger = ledger
    this.#scheduler = scheduler
    this.#options = options
  }

  useOf(leaseId: string): LeaseUse {
    let use = this.#uses.get(leaseId)
    if (!use) this.#uses.set(leaseId, (use = { held: 0n, unbooked: 0n }))
    return use
  }

  /** Returns the credit that the account can spend now, on all nodes together. */
  availableOf(accountId: string): bigint {
    const account = this.#ledger.account(accountId)
    let available = account.posted - account.leased
    for (const [id, lease] of this.#ledger.activeOf(accountId)) {
      if (!this.#options.canReturn(id, lease)) continue
      const { held, unbooked } = this.useOf(id)
      const free = lease.amount - lease.spent - held - unbooked
      if (free > 0n) available += free
    }
    for (const beyond of this.#beyond.get(accountId)?.values() ?? []) available -= beyond
    return available
  }

  /** Records a change of the account. */
  look(accountId: string): void {
    this.#historyOf(accountId).note(this.#scheduler.nowMs, this.availableOf(accountId))
    for (const request of this.#pending.get(accountId) ?? []) {
      if (!request.isAlive()) this.#ended(request)
    }
  }

  lookAtAll(): void {
    for (const accountId of this.#ledger.accounts.keys()) this.look(accountId)
  }

  #historyOf(accountId: string): Availability {
    let history = this.#availability.get(accountId)
    if (!history) this.#availability.set(accountId, (history = new Availability()))
    return history
  }

  begin(fields: Omit<PendingRequest, 'sinceMs'>): PendingRequest {
    const { accountId } = fields
    this.look(accountId)
    const request = { ...fields, sinceMs: this.#scheduler.nowMs }
    const pending = this.#pending.get(accountId) ?? new Set()
    this.#pending.set(accountId, pending.add(request))
    return request
  }

  /** Records that the request has its hold. */
  served(request: PendingRequest, { leaseId, amount }: { leaseId: string; amount: bigint }): void {
    const { accountId, sinceMs } = request
    this.useOf(leaseId).held += amount
    this.#historyOf(accountId).sample(sinceMs, amount)
    this.look(accountId)
    this.#ended(request)
  }

  failed(request: PendingRequest): void {
    this.look(request.accountId)
    this.#ended(request)
  }

  /**
   * Records that the request was rejected. Calls `conclude` once all requests that wait beside it have ended, with the
   * minimum that the account could spend at any moment of it.
   */
  refused(request: PendingRequest, conclude: (minAvailable: bigint) => void): void {
    const { accountId } = request
    this.failed(request)
    const others = new Set(this.#pending.get(accountId))
    const refusal = { request, refusedAtMs: this.#scheduler.nowMs, others, conclude }
    if (others.size === 0) return this.#conclude(refusal)
    const refused = this.#refused.get(accountId) ?? new Set()
    this.#refused.set(accountId, refused.add(refusal))
  }

  /** Ends the run, and concludes all rejections. */
  concludeAll(): void {
    for (const refused of this.#refused.values()) {
      for (const refusal of refused) this.#conclude(refusal)
    }
    this.#refused.clear()
  }

  #conclude({ request, refusedAtMs, conclude }: OpenRefusal): void {
    const { accountId, sinceMs } = request
    conclude(this.#historyOf(accountId).findMinimum(sinceMs - this.#options.slackMs, refusedAtMs))
  }

  #ended(request: PendingRequest): void {
    const { accountId } = request
    this.#pending.get(accountId)?.delete(request)
    const refused = this.#refused.get(accountId)
    for (const refusal of refused ?? []) {
      refusal.others.delete(request)
      if (refusal.others.size > 0) continue
      refused?.delete(refusal)
      this.#conclude(refusal)
    }
  }

  /** Records a settlement, to be booked later. Its cost beyond its hold was never available to others. */
  settled(event: ReferenceEvent, { sinceMs, held }: { sinceMs: number; held: bigint }): void {
    if (event.cost > held) this.#historyOf(event.accountId).sample(sinceMs, event.cost - held)
    this.useOf(event.leaseId).unbooked += event.fromLease
    if (event.cost === event.fromLease) return
    const beyond = this.#beyond.get(event.accountId) ?? new Map<string, bigint>()
    this.#beyond.set(event.accountId, beyond.set(event.id, event.cost - event.fromLease))
  }

  booked(event: ReferenceEvent): void {
    this.useOf(event.leaseId).unbooked -= event.fromLease
    this.#beyond.get(event.accountId)?.delete(event.id)
  }

  /** Prunes records of ended leases, and balances before any open request. */
  evictEnded(): void {
    for (const [accountId, history] of this.#availability) {
      if (history.size <= 1) continue
      const open = [
        ...(this.#pending.get(accountId) ?? []),
        ...[...(this.#refused.get(accountId) ?? [])].map(({ request }) => request),
      ].map(({ sinceMs }) => sinceMs)
      history.evictBefore(Math.min(this.#scheduler.nowMs, ...open) - this.#options.slackMs)
    }
    for (const id of this.#uses.keys()) {
      if (this.#ledger.leases.has(id) && !this.#ledger.active.has(id)) this.#uses.delete(id)
    }
  }
}
