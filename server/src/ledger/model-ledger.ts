import { allocate, type LeaseState } from './allocate'
import { earnedOf } from './earnings'
import type { Return } from './return-leases'
import type { Lease } from './take-lease'

/**
 * The ledger's tables and statements as plain objects: what the tests of the money core run against,
 * and what the SQL is held against.
 */

export interface ModelAccount {
  posted: bigint
  leased: bigint
}

export interface ModelLease extends LeaseState {
  accountId: string
  nodeId: string
  state: 'active' | 'closed' | 'swept'
  expiresAtMs: number
}

export interface ModelEvent {
  id: string
  accountId: string
  leaseId: string
  cost: bigint
  fromLease: bigint
  /** Who gets what is paid, less the fee, where that is not the house. */
  payeeId?: string | null
  feeMillionths?: number
}

interface Take {
  leaseId: string
  accountId: string
  nodeId: string
  need: bigint
  wish: bigint
  nodes: number
  nowMs: number
}

const lifeMs = 60_000
const least = (...amounts: bigint[]) => amounts.reduce((a, b) => (a < b ? a : b))
const most = (a: bigint, b: bigint) => (a > b ? a : b)

export class ModelLedger {
  readonly accounts = new Map<string, ModelAccount>()
  readonly leases = new Map<string, ModelLease>()
  /** Attempt id -> what of its cost was charged, and what was not. */
  readonly booked = new Map<string, { charged: bigint; writtenOff: bigint }>()
  /** What all accounts earned of others. */
  earned = 0n

  account(id: string): ModelAccount {
    const account = this.accounts.get(id) ?? { posted: 0n, leased: 0n }
    this.accounts.set(id, account)
    return account
  }

  take({ leaseId, accountId, nodeId, need, wish, nodes, nowMs }: Take): Lease {
    const account = this.account(accountId)
    const free = account.posted - account.leased
    const amount = least(free, most(need, least(wish, free / BigInt(nodes))))
    const lease = this.leases.get(leaseId)
    if (lease && lease.state !== 'active' && amount > 0n) throw new Error('the lease has ended')
    if (amount > 0n) {
      account.leased += amount
      this.leases.set(leaseId, {
        accountId,
        nodeId,
        state: 'active',
        spent: lease?.spent ?? 0n,
        amount: (lease?.amount ?? 0n) + amount,
        expiresAtMs: nowMs + lifeMs,
      })
    }
    const others = this.#activeOf(accountId).filter(([id]) => id !== leaseId)
    return {
      amount: this.leases.get(leaseId)?.amount ?? 0n,
      taken: amount,
      available: free - amount,
      elsewhere: others.reduce((sum, [, other]) => sum + other.amount - other.spent, 0n),
    }
  }

  find(leaseId: string): bigint | undefined {
    const lease = this.leases.get(leaseId)
    return lease?.state === 'active' ? lease.amount : undefined
  }

  giveBack(returns: readonly Return[], { isLast }: { isLast: boolean }): Set<string> {
    const shrunk = new Set<string>()
    for (const { leaseId, amount } of returns) {
      const lease = this.leases.get(leaseId)
      if (lease?.state !== 'active' || lease.amount - lease.spent < amount) continue
      lease.amount -= amount
      if (isLast && lease.amount === lease.spent) lease.state = 'closed'
      this.account(lease.accountId).leased -= amount
      shrunk.add(leaseId)
    }
    return shrunk
  }

  renew(ids: readonly string[], nowMs: number): Set<string> {
    const still = ids.filter((id) => this.leases.get(id)?.state === 'active')
    for (const id of still) {
      const lease = this.leases.get(id)
      if (lease) lease.expiresAtMs = nowMs + lifeMs
    }
    return new Set(still)
  }

  /** Ends leases and frees what they have not spent. */
  end(ids: readonly string[], state: 'closed' | 'swept'): void {
    for (const id of ids) {
      const lease = this.leases.get(id)
      if (lease?.state !== 'active') continue
      lease.state = state
      this.account(lease.accountId).leased -= lease.amount - lease.spent
    }
  }

  /** Books a batch of events, each once; what is earned in it is there for the next one. */
  settle(events: readonly ModelEvent[]): void {
    const earnings: { payeeId: string; amount: bigint }[] = []
    for (const event of events) {
      if (this.booked.has(event.id)) continue
      const lease = this.leases.get(event.leaseId)
      const isActive = lease?.state === 'active'
      const booked = allocate(event, this.account(event.accountId), isActive ? lease : undefined)
      const charged = booked.fromLease + booked.fromBalance
      this.booked.set(event.id, { charged, writtenOff: booked.writtenOff })
      const { cost, payeeId, feeMillionths = 0 } = event
      if (payeeId) earnings.push({ payeeId, amount: earnedOf({ cost, feeMillionths }, charged) })
    }
    for (const { payeeId, amount } of earnings) {
      this.account(payeeId).posted += amount
      this.earned += amount
    }
  }

  /** Sentences about what is wrong; none when all invariants hold. */
  violations(): string[] {
    return [...this.accounts].flatMap(([id, { posted, leased }]) => {
      const unspent = this.#activeOf(id).reduce((sum, [, it]) => sum + it.amount - it.spent, 0n)
      return [
        ...(posted < 0n ? [`I7: ${id} has posted ${posted}`] : []),
        ...(leased > posted ? [`I3: ${id} has leased ${leased} of ${posted}`] : []),
        ...(leased !== unspent ? [`I3: ${id} has leased ${leased}, its leases ${unspent}`] : []),
      ]
    })
  }

  #activeOf(accountId: string) {
    return [...this.leases].filter(
      ([, lease]) => lease.state === 'active' && lease.accountId === accountId,
    )
  }
}
