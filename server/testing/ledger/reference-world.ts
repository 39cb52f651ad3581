import { expect } from 'bun:test'
import type { LeaseCommand } from './reference-command'
import { createReferenceStore } from './reference-store'
import { ReferenceLedger, type ReferenceEvent } from './reference-ledger'
import { InsufficientCredit } from '../../src/ledger/credit-demand'
import type { LeaseStore } from '../../src/ledger/lease-store'
import { CreditManager } from '../../src/ledger/credit-manager'
import type { Hold } from '../../src/ledger/local-lease'

interface Call {
  node: Node
  /** Applies the call, and answers unless the answer is to be lost. */
  apply: (isAnswered: boolean) => void
  reject: (error: Error) => void
}

interface Running {
  node: Node
  accountId: string
  hold: Hold
}

/** A node, its journal, which outlives it, and the leases of its earlier starts. */
interface Node {
  id: string
  credit: CreditManager
  journal: ReferenceEvent[]
  isAlive: boolean
}

const otherThan = (accountId: string) => (accountId === 'account 0' ? 'account 1' : 'account 0')

/** The simulated world of one sequence: calls are applied and answered when a command does so. */
export class World {
  readonly ledger = new ReferenceLedger()
  readonly calls: Call[] = []
  readonly pauses: { untilMs: number; resolve: () => void }[] = []
  readonly nodes: Node[]
  running: Running[] = []
  nowMs = 0
  ids = 0
  admitted = 0
  refused: { error: InsufficientCredit; accountId: string }[] = []
  toppedUp = 0n
  /** Costs above their holds, which may be written off. */
  overruns = 0n
  settled: ReferenceEvent[] = []

  constructor() {
    this.nodes = [0, 1, 2].map(() => this.#newNode([]))
  }

  #newNode(journal: ReferenceEvent[]): Node {
    const id = `node ${++this.ids}`
    const created: Node = {
      id,
      journal,
      isAlive: true,
      credit: new CreditManager({
        nodeId: id,
        newLeaseId: () => `lease ${++this.ids}`,
        now: () => ({ monotonicMs: this.nowMs, wallMs: this.nowMs }),
        pause: (ms) =>
          new Promise((resolve) => this.pauses.push({ untilMs: this.nowMs + ms, resolve })),
        store: this.#storeOf(() => created),
        // Short, so that rotation happens in nearly every sequence.
        rotateAfterMs: 100_000,
        onError: () => undefined,
      }),
    }
    return created
  }

  /** The calls of one node, each of which waits until a command delivers it. */
  #storeOf(owner: () => Node): LeaseStore {
    const call = <Result>(work: () => Result) =>
      new Promise<Result>((resolve, reject) => {
        const apply = (isAnswered: boolean) => {
          const result = work()
          if (isAnswered) resolve(result)
          else reject(new Error('lost'))
        }
        this.calls.push({ node: owner(), apply, reject })
      })
    return createReferenceStore(this.ledger, {
      call,
      nodeId: () => owner().id,
      nowMs: () => this.nowMs,
      onReclaim: (accountId, at) => this.#recall({ accountId, at }, owner()),
      onCredit: (accountId) => {
        for (const { credit } of this.nodes) credit.onCreditAdded(accountId)
      },
    })
  }

  #recall(reclaim: { accountId: string; at: bigint }, by: Node): void {
    for (const other of this.nodes) {
      if (other === by || !other.isAlive) continue
      void other.credit.onReclaim(reclaim).catch(() => undefined)
    }
  }

  async run(step: LeaseCommand): Promise<void> {
    switch (step.do) {
      case 'topUp': {
        this.ledger.account(`account ${step.account}`).posted += BigInt(step.amount)
        this.toppedUp += BigInt(step.amount)
        for (const { credit } of this.nodes) credit.onCreditAdded(`account ${step.account}`)
        break
      }
      case 'admit':
        this.#admit(step)
        break
      case 'settle':
        this.#settle(step)
        break
      case 'deliver':
        this.#deliver(step.pick, step.fate)
        break
      case 'flush':
        this.#flush(this.#nodeAt(step.node), step.fate)
        break
      case 'tick':
        if (this.#nodeAt(step.node).isAlive) void this.#nodeAt(step.node).credit.tick()
        break
      case 'crash':
        this.#crash(this.#nodeAt(step.node))
        break
      case 'restart':
        this.#restart(step.node)
        break
      case 'sweep':
        this.#sweep()
        break
      case 'pass':
        this.pass(step.ms)
        break
    }
    // Continuations of resolved calls run on, up to their next call.
    for (let tick = 0; tick < 12; tick++) await Promise.resolve()
    expect(this.ledger.violations()).toEqual([])
    this.#expectLocalLeasesWithinLedger()
  }

  #nodeAt(index: number): Node {
    const found = this.nodes[index]
    if (!found) throw new Error('no such node')
    return found
  }

  #admit({ node: index, account: number, full, floor }: LeaseCommand & { do: 'admit' }): void {
    const owner = this.#nodeAt(index)
    if (!owner.isAlive) return
    const accountId = `account ${number}`
    const need = { full: BigInt(full), floor: BigInt(Math.min(full, floor)), minimum: 0n }
    const admit = (hold: Hold) => {
      this.admitted++
      expect(hold.amount).toBeLessThanOrEqual(need.full)
      expect(hold.amount).toBeGreaterThanOrEqual(need.floor)
      if (owner.isAlive) this.running.push({ node: owner, accountId, hold })
    }
    const refuse = (error: unknown) => {
      if (error instanceof InsufficientCredit) this.refused.push({ error, accountId })
    }
    try {
      const hold = owner.credit.of(accountId).hold(need)
      if (hold instanceof Promise) hold.then(admit, refuse)
      else admit(hold)
    } catch (error) {
      refuse(error)
    }
  }

  #settle({ pick, share, isMembers }: LeaseCommand & { do: 'settle' }): void {
    const [one] = this.running.splice(pick % (this.running.length || 1), 1)
    if (!one) return
    const { hold } = one
    const cost = (hold.amount * BigInt(share)) / 100n
    const event = {
      id: `event ${++this.ids}`,
      accountId: one.accountId,
      cost,
      // A member of an organization, whose pool is the other account.
      payeeId: isMembers ? otherThan(one.accountId) : null,
      feeMillionths: 100_000,
      ...hold.settle(cost),
    }
    one.node.journal.push(event)
    this.settled.push(event)
    if (share > 100) this.overruns += cost - hold.amount
  }

  #deliver(chosen: number, how: 'answered' | 'lost before' | 'lost after'): void {
    const [one] = this.calls.splice(chosen % (this.calls.length || 1), 1)
    if (!one) return
    // A call that a dead node sent may still arrive; its answer is lost.
    if (how === 'lost before') return one.reject(new Error('lost'))
    try {
      one.apply(how === 'answered')
    } catch (error) {
      one.reject(error instanceof Error ? error : new Error(String(error)))
    }
  }

  #flush(owner: Node, how: 'answered' | 'lost before' | 'lost after'): void {
    if (!owner.isAlive) return
    const batch = owner.journal.slice(0, 5)
    if (how !== 'lost before') {
      this.ledger.settle(batch)
      // As the database announces it.
      for (const { payeeId } of batch) {
        if (payeeId) for (const { credit } of this.nodes) credit.onCreditAdded(payeeId)
      }
    }
    if (how === 'answered') owner.journal.splice(0, batch.length)
  }

  #crash(owner: Node): void {
    owner.isAlive = false
    this.running = this.running.filter((one) => one.node !== owner)
  }

  /** The journal is booked, then the leases of the earlier start end. */
  #restart(index: number): void {
    const old = this.#nodeAt(index)
    if (old.isAlive) return
    this.ledger.settle(old.journal)
    const orphaned = [...this.ledger.leases].filter(([, lease]) => lease.nodeId === old.id)
    this.ledger.end(
      orphaned.map(([id]) => id),
      'closed',
    )
    this.nodes[index] = this.#newNode([])
  }

  #sweep(): void {
    const overdue = [...this.ledger.leases].filter(
      ([, lease]) => lease.expiresAtMs < this.nowMs - 60_000,
    )
    this.ledger.end(
      overdue.map(([id]) => id),
      'swept',
    )
  }

  /** The amount that running requests may still cost an account, and the amount not booked yet. */
  promised(accountId: string): bigint {
    const held = this.running.filter((one) => one.accountId === accountId)
    const unbooked = this.nodes
      .flatMap(({ journal }) => journal)
      .filter((event) => event.accountId === accountId && !this.ledger.booked.has(event.id))
    return (
      held.reduce((sum, { hold }) => sum + hold.amount, 0n) +
      unbooked.reduce((sum, { cost }) => sum + cost, 0n)
    )
  }

  pass(ms: number): void {
    this.nowMs += ms
    for (const one of this.pauses.splice(0)) {
      if (one.untilMs <= this.nowMs) one.resolve()
      else this.pauses.push(one)
    }
  }

  /** A node never assumes more than the ledger reserved for it, while it may use it. */
  #expectLocalLeasesWithinLedger(): void {
    for (const { nodes, ledger } of [this]) {
      for (const { credit, isAlive } of nodes) {
        if (!isAlive) continue
        for (const accountId of ledger.accounts.keys()) {
          for (const lease of credit.of(accountId).leases) {
            if (this.nowMs >= lease.usableUntil.monotonicMs) continue
            const reserved = ledger.leases.get(lease.leaseId)
            const unspent = reserved?.state === 'active' ? reserved.amount - reserved.spent : 0n
            expect(lease.amount - lease.spent).toBeLessThanOrEqual(unspent)
          }
        }
      }
    }
  }

  /** Heals every fault: calls are answered, all is settled and booked, idle leases are returned. */
  async heal(): Promise<void> {
    for (let round = 0; round < 40; round++) {
      while (this.calls.length > 0) await this.run({ do: 'deliver', pick: 0, fate: 'answered' })
      while (this.running.length > 0) await this.run({ do: 'settle', pick: 0, share: 50 })
      for (const index of [0, 1, 2]) {
        await this.run({ do: 'restart', node: index })
        while (this.#nodeAt(index).journal.length > 0) {
          await this.run({ do: 'flush', node: index, fate: 'answered' })
        }
        await this.run({ do: 'tick', node: index })
      }
      await this.run({ do: 'pass', ms: 31_000 })
      await this.run({ do: 'sweep' })
    }
  }
}
