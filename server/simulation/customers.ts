import type { AccountObserver, PendingRequest } from './accounts'
import { SimulatedNode } from './node'
import type { Profile } from './profile'
import type { Random } from './random'
import type { Scheduler } from './scheduler'
import type { Violations } from './violations'
import type { ReferenceEvent, ReferenceLedger } from '../testing/ledger/reference-ledger'
import { InsufficientCredit } from '../src/ledger/credit-demand'
import type { Hold } from '../src/ledger/local-lease'

interface CustomerDependencies {
  scheduler: Scheduler
  random: Random
  profile: Profile
  ledger: ReferenceLedger
  observer: AccountObserver
  nodes: readonly SimulatedNode[]
  violations: Violations
  newId: (prefix: string) => string
}

interface Attempt {
  id: string
  accountId: string
  node: SimulatedNode
  full: bigint
  floor: bigint
  atMs: number
}

type Serving = NonNullable<SimulatedNode['serving']>

/** The mean pause of a caller between two requests. Milliseconds. */
const pauseMs = 20

/** Sends requests to random nodes, tops up from time to time, and checks every answer. */
export class Customers {
  readonly #dependencies: CustomerDependencies
  #isOver = false
  readonly counts = { requests: 0, served: 0, refused: 0, failed: 0 }
  /** The time that each request waited for its verdict, in milliseconds. */
  readonly waits: number[] = []
  /** Costs of answered requests: each must be booked once. */
  readonly delivered = new Map<string, bigint>()
  /** Costs above their holds, or of leases that may have been freed: these may be written off. */
  readonly mayBeWrittenOff = new Set<string>()
  toppedUp = 0n

  constructor(dependencies: CustomerDependencies) {
    this.#dependencies = dependencies
    for (let number = 0; number < dependencies.profile.accounts; number++) {
      const accountId = `account-${number}`
      this.#topUp(accountId)
      if (dependencies.profile.isCalledInTurn) {
        for (const node of dependencies.nodes) this.#callInTurn(accountId, node)
      } else {
        this.#requestLater(accountId)
      }
      this.#topUpLater(accountId)
    }
  }

  stop(): void {
    this.#isOver = true
  }

  #topUp(accountId: string): void {
    const { random, ledger, profile, observer } = this.#dependencies
    const amount = BigInt(random.integer(1, profile.topUp))
    ledger.account(accountId).posted += amount
    this.toppedUp += amount
    observer.look(accountId)
    this.#dependencies.violations.announce(accountId)
  }

  #topUpLater(accountId: string): void {
    const { scheduler, random, profile } = this.#dependencies
    // Balances are low most of the time: a customer tops up about the amount spent.
    const spentEachMs = (profile.largestHold * 0.4) / profile.requestEveryMs
    scheduler.after(random.waitMs(profile.topUp / 2 / spentEachMs), () => {
      if (this.#isOver) return
      this.#topUp(accountId)
      this.#topUpLater(accountId)
    })
  }

  #requestLater(accountId: string): void {
    const { scheduler, random, profile } = this.#dependencies
    scheduler.after(random.waitMs(profile.requestEveryMs), () => {
      if (this.#isOver) return
      for (let count = random.chance(0.05) ? 20 : 1; count > 0; count--)
        void this.#request(accountId, random.pick(this.#dependencies.nodes))
      this.#requestLater(accountId)
    })
  }

  /** Sends one request after the other, each when the one before has ended. */
  #callInTurn(accountId: string, node: SimulatedNode): void {
    const { scheduler, random } = this.#dependencies
    scheduler.after(random.waitMs(pauseMs), () => {
      if (this.#isOver) return
      void this.#request(accountId, node).then(() => this.#callInTurn(accountId, node))
    })
  }

  #request(accountId: string, node: SimulatedNode): Promise<void> {
    const { random, profile, newId, scheduler } = this.#dependencies
    const start = node.serving
    if (!start || start.frozenUntilMs > scheduler.nowMs) return Promise.resolve()
    const full = BigInt(random.integer(1, profile.largestHold))
    const floor = random.chance(0.5) ? full : full / 4n + 1n
    const attempt = { id: newId('event'), accountId, node, full, floor, atMs: scheduler.nowMs }
    this.counts.requests += 1
    start.requests += 1
    const { promise: ended, resolve } = Promise.withResolvers<void>()
    scheduler.runAs(start, () => {
      void this.#serve(attempt, start).finally(() => {
        start.requests -= 1
        resolve()
      })
    })
    return ended
  }

  async #serve(attempt: Attempt, start: Serving): Promise<void> {
    const { observer, profile, violations } = this.#dependencies
    const { accountId, floor, full } = attempt
    const { minimum } = profile
    const isAlive = () => start.isAlive
    const pending = observer.begin({ accountId, full, floor, minimum, isAlive })
    let hold: Hold
    try {
      hold = await start.credit.of(accountId).hold({ full, floor, minimum })
    } catch (thrown) {
      this.#noteWait(pending)
      if (thrown instanceof InsufficientCredit) {
        this.counts.refused += 1
        observer.refused(pending, (least) => violations.checkRefusal(pending, least))
      } else {
        observer.failed(pending)
        this.counts.failed += 1
        violations.checkFailure(thrown)
      }
      return
    }
    this.#noteWait(pending)
    observer.served(pending, hold)
    violations.checkHold(hold.leaseId, attempt)
    await this.#run(attempt, start, hold)
  }

  #noteWait(pending: PendingRequest): void {
    this.waits.push(this.#dependencies.scheduler.nowMs - pending.sinceMs)
    this.#dependencies.violations.checkWait(pending)
  }

  async #run(attempt: Attempt, start: Serving, hold: Hold): Promise<void> {
    const { random, profile, observer } = this.#dependencies
    const { id, accountId } = attempt
    const begun = { id, accountId, leaseId: hold.leaseId, cost: 0n, fromLease: 0n }
    const { amount, leaseId } = hold
    try {
      await start.journal.begin(id, SimulatedNode.bodyOf(begun))
    } catch {
      hold.settle(0n)
      observer.useOf(leaseId).held -= amount
      return
    }
    await new Promise((resolve) => setTimeout(resolve, profile.upstreamMs * random.next() ** 3))
    const share = random.chance(0.03) ? 1.3 : random.next()
    const cost = BigInt(Math.ceil(Number(amount) * share))
    const event: ReferenceEvent = { id, accountId, cost, ...hold.settle(cost) }
    observer.useOf(leaseId).held -= amount
    observer.settled(event, { sinceMs: attempt.atMs, held: amount })
    observer.look(accountId)
    if (event.fromLease < cost) this.mayBeWrittenOff.add(id)
    try {
      await start.journal.settle(id, SimulatedNode.bodyOf(event))
    } catch {
      // As `server/usage.ts` does where the disk fails: straight to the ledger.
      await start.statements.book([event]).catch(() => undefined)
      return
    }
    this.counts.served += 1
    this.delivered.set(id, cost)
  }
}
