import { allocateCharge } from '../../src/ledger/allocate'
import { computeEarning } from '../../src/ledger/earnings'
import type { LeaseAnswer } from '../../src/ledger/lease-answer'
import { least, never, playClaim, type TakeEvents } from './reference-claim'
import { ReferenceDemands, type ReferenceDemand } from './reference-demands'
import { copyRows, ReferenceLeases, type ReferenceLease } from './reference-leases'
import type { ReferenceTake } from './reference-take'
import type { RenewedLease } from '../../src/ledger/renew-leases'
import type { Return, ReturnAnswer } from '../../src/ledger/return-leases'

/**
 * The ledger's tables and statements as plain objects: tests of the money core run against them, and the SQL is
 * compared with them.
 */

export interface ReferenceAccount {
  posted: bigint
  leased: bigint
}

export interface ReferenceEvent {
  id: string
  accountId: string
  leaseId: string
  cost: bigint
  fromLease: bigint
  /** The payee of what is paid, less the fee, where that is not the house. */
  payeeId?: string | null
  feeMillionths?: number
}

/** The state of a ledger at one moment. */
export interface LedgerSnapshot {
  accounts: ReadonlyMap<string, ReferenceAccount>
  leases: ReadonlyMap<string, ReferenceLease>
  /** The number of booked events: those that come later follow them. */
  booked: number
}

const lifeMs = 60_000

interface Applying {
  line: ReturnType<ReferenceDemands['line']>
  moment: number
  events: TakeEvents
}

export class ReferenceLedger {
  readonly accounts = new Map<string, ReferenceAccount>()
  readonly #leases = new ReferenceLeases()
  readonly demands = new ReferenceDemands()
  /** The charged and the written-off part of a cost, by attempt id. */
  readonly booked = new Map<string, { charged: bigint; writtenOff: bigint }>()
  /** The sum of all accounts' earnings from others. */
  earned = 0n
  #moment = 0

  get leases(): Map<string, ReferenceLease> {
    return this.#leases.all
  }

  /** The leases that have not ended. */
  get active(): ReadonlyMap<string, ReferenceLease> {
    return this.#leases.active
  }

  account(id: string): ReferenceAccount {
    const account = this.accounts.get(id) ?? { posted: 0n, leased: 0n }
    this.accounts.set(id, account)
    return account
  }

  /** Acts as `claim_lease` of migration 0055. Calls `onRecall` where other nodes should return credit. */
  take(claim: ReferenceTake, events: TakeEvents = {}): LeaseAnswer {
    const { leaseId, accountId, nodeId, nowMs } = claim
    const moment = this.#next(nowMs)
    const line = this.demands.line(accountId, nodeId, nowMs)
    const isApplied = this.#isCurrent(claim)
    const demand = isApplied ? this.#apply(claim, { line, moment, events }) : line.own
    const { posted, leased } = this.account(accountId)
    const free = posted - leased
    return {
      ...this.#answer(leaseId, accountId, free),
      isApplied,
      isWaiting: isApplied && this.demands.line(accountId, nodeId, nowMs).own !== undefined,
      reserved: least(line.older, free),
      unanswered: this.#unanswered(claim, demand),
    }
  }

  #isCurrent({ leaseId, generation }: ReferenceTake): boolean {
    const lease = this.leases.get(leaseId)
    return lease ? lease.generation === generation && lease.state === 'active' : generation === 0
  }

  /** Changes the lease and the line; returns the node's demand, also one that is served now. */
  #apply(claim: ReferenceTake, { line, moment, events }: Applying): ReferenceDemand | undefined {
    const account = this.account(claim.accountId)
    const { askedMs = moment } = claim
    const lease = this.leases.get(claim.leaseId)
    const free = account.posted - account.leased
    const { change, yieldedAt, lacking, isNews } = playClaim(claim, { lease, free, line })
    this.#grow(claim, { change, yieldedAt })
    account.leased += change
    const demand = this.demands.put(claim, { lacking, own: line.own, moment, askedMs })
    if (lacking > 0n && demand && claim.isReclaiming) events.onRecall?.(demand.recalledAt)
    if (isNews) events.onCredit?.()
    return demand
  }

  /** Moments of statements follow each other, though the clock of a test may stand still. */
  #next(nowMs = 0): number {
    this.#moment = Math.max(this.#moment + 1e-3, nowMs)
    return this.#moment
  }

  #grow(
    { leaseId, accountId, nodeId, nowMs }: ReferenceTake,
    { change, yieldedAt }: { change: bigint; yieldedAt: bigint },
  ): void {
    const lease = this.leases.get(leaseId)
    const grown: ReferenceLease = {
      accountId,
      nodeId: lease?.nodeId ?? nodeId,
      state: 'active',
      spent: lease?.spent ?? 0n,
      amount: (lease?.amount ?? 0n) + change,
      generation: (lease?.generation ?? 0) + 1,
      expiresAtMs: nowMs + lifeMs,
      yieldedAt,
    }
    this.#leases.put(leaseId, grown)
  }

  /** Returns its state of this moment. */
  takeSnapshot(): LedgerSnapshot {
    return {
      accounts: copyRows(this.accounts),
      leases: copyRows(this.leases),
      booked: this.booked.size,
    }
  }

  /** Goes back to an earlier state, as a failover to a standby that lags does. */
  goBack({ accounts, leases, booked }: LedgerSnapshot): void {
    this.accounts.clear()
    this.#leases.clear()
    this.demands.clear()
    for (const [id, account] of copyRows(accounts)) this.accounts.set(id, account)
    for (const [id, lease] of copyRows(leases)) this.#leases.put(id, lease)
    for (const id of [...this.booked.keys()].slice(booked)) this.booked.delete(id)
  }

  #unanswered(
    { leaseId, accountId, nodeId, nowMs }: ReferenceTake,
    demand: ReferenceDemand | undefined,
  ) {
    if (!demand) return 0n
    return this.activeOf(accountId)
      .filter(([id, lease]) => id !== leaseId && lease.nodeId !== nodeId)
      .filter(([, lease]) => lease.yieldedAt < demand.recalledAt)
      .filter(([, lease]) => lease.expiresAtMs > nowMs + lifeMs / 2)
      .reduce((sum, [, { amount, spent }]) => sum + amount - spent, 0n)
  }

  #answer(leaseId: string, accountId: string, available: bigint): LeaseAnswer {
    const lease = this.leases.get(leaseId)
    const others = this.activeOf(accountId).filter(([id]) => id !== leaseId)
    return {
      isApplied: true,
      generation: lease?.generation ?? 0,
      isActive: lease?.state === 'active',
      amount: lease?.amount ?? 0n,
      available,
      onOtherNodes: others.reduce((sum, [, other]) => sum + other.amount - other.spent, 0n),
      unanswered: 0n,
      isWaiting: false,
      reserved: 0n,
    }
  }

  /** Acts as `fence_lease`. */
  fence(fenced: {
    leaseId: string
    generation: number
    accountId: string
    nodeId: string
    nowMs: number
  }): LeaseAnswer {
    const { leaseId, generation, accountId, nodeId, nowMs } = fenced
    const lease = this.leases.get(leaseId)
    if (lease) lease.generation = Math.max(lease.generation, generation) + 1
    else {
      this.leases.set(leaseId, {
        accountId,
        nodeId,
        state: 'closed',
        amount: 0n,
        spent: 0n,
        generation: generation + 1,
        expiresAtMs: nowMs,
        yieldedAt: never,
      })
    }
    const { posted, leased } = this.account(accountId)
    return this.#answer(leaseId, accountId, posted - leased)
  }

  /** Acts as `return_leases`; skips leases for which `isLocked` returns true. */
  giveBack(
    returns: readonly Return[],
    { isLast }: { isLast: boolean },
    isLocked: (accountId: string) => boolean = () => false,
  ): Map<string, ReturnAnswer> {
    const answers = new Map<string, ReturnAnswer>()
    for (const { leaseId, generation, amount, lastReclaim = 0n } of returns) {
      const lease = this.leases.get(leaseId)
      if (!lease || isLocked(lease.accountId)) continue
      const isApplied =
        lease.state === 'active' &&
        lease.generation === generation &&
        lease.amount - lease.spent >= amount
      if (isApplied) {
        lease.amount -= amount
        lease.generation += 1
        lease.yieldedAt = lastReclaim
        if (isLast && lease.amount === lease.spent) this.#leases.end(leaseId, lease, 'closed')
        this.account(lease.accountId).leased -= amount
      }
      const isActive = lease.state === 'active'
      const { amount: remaining, generation: now } = lease
      answers.set(leaseId, { isApplied, isActive, amount: remaining, generation: now })
    }
    return answers
  }

  renew(ids: readonly string[], nowMs: number): Map<string, RenewedLease> {
    const still = new Map<string, RenewedLease>()
    for (const id of ids) {
      const lease = this.active.get(id)
      if (!lease) continue
      lease.expiresAtMs = nowMs + lifeMs
      still.set(id, { generation: lease.generation, amount: lease.amount })
    }
    return still
  }

  /** Ends leases and frees what they have not spent. */
  end(ids: readonly string[], state: 'closed' | 'swept'): void {
    for (const id of ids) {
      const lease = this.leases.get(id)
      if (lease?.state !== 'active') continue
      this.#leases.end(id, lease, state)
      this.account(lease.accountId).leased -= lease.amount - lease.spent
    }
  }

  /** Books a batch of events, each once; earnings of the batch are available to the next one. */
  settle(events: readonly ReferenceEvent[]): void {
    const earnings: { payeeId: string; amount: bigint }[] = []
    for (const event of events) {
      if (this.booked.has(event.id)) continue
      const lease = this.leases.get(event.leaseId)
      const isActive = lease?.state === 'active'
      const booked = allocateCharge(
        event,
        this.account(event.accountId),
        isActive ? lease : undefined,
      )
      const charged = booked.fromLease + booked.fromBalance
      this.booked.set(event.id, { charged, writtenOff: booked.writtenOff })
      const { cost, payeeId, feeMillionths = 0 } = event
      if (payeeId)
        earnings.push({ payeeId, amount: computeEarning({ cost, feeMillionths }, charged) })
    }
    for (const { payeeId, amount } of earnings) {
      this.account(payeeId).posted += amount
      this.earned += amount
    }
  }

  /** Returns sentences about violations of some accounts, or of all; none when all invariants hold. */
  violations(accountIds: Iterable<string> = this.accounts.keys()): string[] {
    return [...accountIds].flatMap((id) => {
      const { posted, leased } = this.account(id)
      const unspent = this.activeOf(id).reduce((sum, [, it]) => sum + it.amount - it.spent, 0n)
      return [
        ...(posted < 0n ? [`I7: ${id} has posted ${posted}`] : []),
        ...(leased > posted ? [`I3: ${id} has leased ${leased} of ${posted}`] : []),
        ...(leased !== unspent ? [`I3: ${id} has leased ${leased}, its leases ${unspent}`] : []),
      ]
    })
  }

  /** Returns the leases of an account that have not ended, by id. */
  activeOf(accountId: string): [string, ReferenceLease][] {
    return this.#leases.activeOf(accountId)
  }
}
