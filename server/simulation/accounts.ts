import type { SimulatedNode } from './node'
import type { Scheduler } from './scheduler'
import type { ModelEvent, ModelLedger } from '../src/ledger/model-ledger'

/** A request that waits for its hold. Amounts are nano-dollars. */
export interface PendingRequest {
  accountId: string
  full: bigint
  floor: bigint
  minimum: bigint
  /** The least that requests before it left of the account at any moment since it came. */
  leastAvailable: bigint
  /** Whether its node still works at it. */
  isAlive: () => boolean
}

/** A request that was refused, while others waited that may yet turn out to have had the credit. */
interface OpenRefusal {
  request: PendingRequest
  others: Set<PendingRequest>
  conclude: () => void
}

interface LeaseUse {
  held: bigint
  unbooked: bigint
}

/** What those that waited left of an account for the next. */
interface Seen {
  atMs: number
  left: bigint
}

/**
 * What accounts can truly spend, as an observer sees it who knows all nodes at once: the balance less what
 * running requests hold and what is settled and not booked, without what is leased to nodes that cannot return it.
 */
export class AccountObserver {
  readonly #ledger: ModelLedger
  readonly #scheduler: Scheduler
  readonly #nodeOf: (nodeId: string) => SimulatedNode | undefined
  readonly #uses = new Map<string, LeaseUse>()
  /** Settled costs that came out of no lease, by account and event. */
  readonly #beyond = new Map<string, Map<string, bigint>>()
  readonly #pending = new Map<string, Set<PendingRequest>>()
  readonly #refused = new Map<string, Set<OpenRefusal>>()
  readonly #seen = new Map<string, Seen[]>()
  /** For how long an answer may be older than its question, in milliseconds. */
  readonly #slackMs: number

  constructor(
    ledger: ModelLedger,
    scheduler: Scheduler,
    options: { nodeOf: (nodeId: string) => SimulatedNode | undefined; slackMs: number },
  ) {
    this.#ledger = ledger
    this.#scheduler = scheduler
    this.#nodeOf = options.nodeOf
    this.#slackMs = options.slackMs
  }

  useOf(leaseId: string): LeaseUse {
    let use = this.#uses.get(leaseId)
    if (!use) this.#uses.set(leaseId, (use = { held: 0n, unbooked: 0n }))
    return use
  }

  /** What the account can spend now, wherever that lies. */
  availableOf(accountId: string): bigint {
    const account = this.#ledger.account(accountId)
    let available = account.posted - account.leased
    for (const [id, lease] of this.#ledger.active) {
      if (lease.accountId !== accountId || !this.#nodeOf(lease.nodeId)?.canReturn(id)) continue
      const { held, unbooked } = this.useOf(id)
      const free = lease.amount - lease.spent - held - unbooked
      if (free > 0n) available += free
    }
    for (const beyond of this.#beyond.get(accountId)?.values() ?? []) available -= beyond
    return available
  }

  /** Something about the account has changed. */
  look(accountId: string): void {
    const { nowMs } = this.#scheduler
    const available = this.availableOf(accountId)
    for (const { request } of this.#refused.get(accountId) ?? []) {
      if (available < request.leastAvailable) request.leastAvailable = available
    }
    let left = available
    const pending = this.#pending.get(accountId)
    for (const request of pending ?? []) {
      const { full, floor, minimum } = request
      if (!request.isAlive()) {
        pending?.delete(request)
        this.#forget(request)
        continue
      }
      if (left < request.leastAvailable) request.leastAvailable = left
      // First come, first served, lowered where there is less.
      if (left >= floor && left >= minimum) left -= full < left ? full : left
    }
    // The next one comes after all of these.
    const seen = this.#seen.get(accountId) ?? []
    while (seen[0] && seen[1] && seen[1].atMs < nowMs - this.#slackMs) seen.shift()
    seen.push({ atMs: nowMs, left })
    this.#seen.set(accountId, seen)
  }

  lookAtAll(): void {
    for (const accountId of this.#ledger.accounts.keys()) this.look(accountId)
  }

  begin(wanted: Omit<PendingRequest, 'leastAvailable'>): PendingRequest {
    const { accountId } = wanted
    this.look(accountId)
    const leastAvailable = (this.#seen.get(accountId) ?? [])
      .map(({ left }) => left)
      .reduce((a, b) => (a < b ? a : b))
    const request = { ...wanted, leastAvailable }
    const pending = this.#pending.get(accountId) ?? new Set()
    this.#pending.set(accountId, pending.add(request))
    this.look(accountId)
    return request
  }

  end(request: PendingRequest): void {
    this.look(request.accountId)
    this.#pending.get(request.accountId)?.delete(request)
    this.#forget(request)
  }

  /**
   * A request was refused. Those that wait beside it are in no order, wherever they wait: `conclude` is called once
   * all of them have ended, as what they got may be what this one lacked.
   */
  endRefused(request: PendingRequest, conclude: () => void): void {
    const { accountId } = request
    this.end(request)
    const others = new Set(this.#pending.get(accountId))
    if (others.size === 0) return conclude()
    const refused = this.#refused.get(accountId) ?? new Set()
    this.#refused.set(accountId, refused.add({ request, others, conclude }))
  }

  /** The run is over: none is waited for any more. */
  concludeAll(): void {
    for (const refused of this.#refused.values()) for (const { conclude } of refused) conclude()
    this.#refused.clear()
  }

  #forget(ended: PendingRequest): void {
    const refused = this.#refused.get(ended.accountId)
    for (const one of refused ?? []) {
      one.others.delete(ended)
      if (one.others.size > 0) continue
      refused?.delete(one)
      one.conclude()
    }
  }

  /** A request has settled; its event will be booked. */
  settled(event: ModelEvent): void {
    this.useOf(event.leaseId).unbooked += event.fromLease
    if (event.cost === event.fromLease) return
    const beyond = this.#beyond.get(event.accountId) ?? new Map<string, bigint>()
    this.#beyond.set(event.accountId, beyond.set(event.id, event.cost - event.fromLease))
  }

  booked(event: ModelEvent): void {
    this.useOf(event.leaseId).unbooked -= event.fromLease
    this.#beyond.get(event.accountId)?.delete(event.id)
  }

  /** A lease is over: what was used of it matters no more. */
  forgetEnded(): void {
    for (const id of this.#uses.keys()) {
      if (this.#ledger.leases.has(id) && !this.#ledger.active.has(id)) this.#uses.delete(id)
    }
  }
}
