import { messageFaults, type SimulatedDatabase } from './database'
import type { SimulatedNode } from './node'
import type { FaultKind, Profile } from './profile'
import type { Random } from './random'
import type { Scheduler } from './scheduler'
import type { ReferenceLedger } from '../testing/ledger/reference-ledger'

interface FaultDependencies {
  scheduler: Scheduler
  random: Random
  profile: Profile
  database: SimulatedDatabase
  ledger: ReferenceLedger
  nodes: readonly SimulatedNode[]
  onChange: () => void
}

/** Injects faults, each kind by its own random schedule. */
export class FaultInjector {
  readonly #dependencies: FaultDependencies
  readonly #counts = new Map<FaultKind, number>()
  /** Rows that were locked, and the time until which they are not locked again. */
  readonly #freeUntilMs = new Map<string, number>()
  #isOver = false
  #lastsUntilMs = -Infinity

  constructor(dependencies: FaultDependencies) {
    this.#dependencies = dependencies
    Object.assign(dependencies.database.faults, dependencies.profile.messages)
    for (const [kind, meanMs] of dependencies.profile.faults) this.#schedule(kind, meanMs)
  }

  /** The end of the last fault so far, in milliseconds of simulated time. */
  get lastsUntilMs(): number {
    return this.#lastsUntilMs
  }

  /** The number of faults of each kind. */
  get counts(): ReadonlyMap<FaultKind, number> {
    return this.#counts
  }

  /** Stops injecting faults, and ends lasting ones. */
  heal(): void {
    const { database, nodes } = this.#dependencies
    this.#isOver = true
    database.frozenUntilMs = 0
    database.refusesUntilMs = 0
    database.commitsStallUntilMs = 0
    for (const kind of messageFaults) database.faults[kind] = 0
    for (const node of nodes) {
      node.link.cutUntilMs = 0
      node.freeze(0)
      node.disk.free()
      node.start()
    }
  }

  #schedule(kind: FaultKind, meanMs: number): void {
    const { scheduler, random } = this.#dependencies
    scheduler.after(random.waitMs(meanMs), () => {
      if (this.#isOver) return
      this.#last(0)
      if (this.#inject(kind)) this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + 1)
      this.#dependencies.onChange()
      this.#schedule(kind, meanMs)
    })
  }

  /** Injects a fault. Returns whether it took effect. */
  #inject(kind: FaultKind): boolean {
    const { random, database, ledger, scheduler } = this.#dependencies
    switch (kind) {
      case 'account locked':
        return this.#lock(`account ${random.pick([...ledger.accounts.keys()])}`)
      case 'lease locked': {
        const leases = [...ledger.active.keys()]
        return leases.length > 0 && this.#lock(`lease ${random.pick(leases)}`)
      }
      case 'commits stall':
        database.commitsStallUntilMs = scheduler.nowMs + this.#ms(300, 5_000)
        break
      case 'database frozen':
        database.frozenUntilMs = scheduler.nowMs + this.#ms(300, 60_000)
        break
      case 'database away':
        database.refusesUntilMs = scheduler.nowMs + this.#ms(300, 60_000)
        break
      case 'database restarts':
        database.restart()
        database.refusesUntilMs = scheduler.nowMs + this.#ms(100, 3_000)
        break
      default:
        this.#injectInto(random.pick(this.#dependencies.nodes), kind)
    }
    return true
  }

  /** Locks a row at most half of the time: a caller that meets a longer lock than its timeout fails legitimately. */
  #lock(row: string): boolean {
    const { database, scheduler } = this.#dependencies
    const forMs = this.#ms(300, 10_000)
    if (scheduler.nowMs < (this.#freeUntilMs.get(row) ?? 0)) return false
    this.#freeUntilMs.set(row, scheduler.nowMs + 2 * forMs)
    database.lockFor(row, forMs)
    return true
  }

  #injectInto(node: SimulatedNode, kind: FaultKind): void {
    const { scheduler } = this.#dependencies
    switch (kind) {
      case 'node cut off':
        node.link.cutUntilMs = scheduler.nowMs + this.#ms(300, 200_000)
        break
      case 'node frozen':
        node.freeze(this.#ms(100, 250_000))
        break
      case 'node killed':
        node.kill()
        scheduler.after(this.#ms(500, 300_000), () => node.start())
        break
      case 'node loses power':
        node.cutPower()
        scheduler.after(this.#ms(2000, 300_000), () => node.start())
        break
      case 'node restarts':
        node.restart(this.#ms(100, 20_000))
        break
      case 'clock jumps':
        node.jumpWallClock(
          (this.#dependencies.random.chance(0.5) ? 1 : -1) *
            this.#dependencies.random.logarithmic(500, 7_200_000),
        )
        break
      case 'disk full':
        node.disk.fill()
        scheduler.after(this.#ms(500, 60_000), () => node.disk.free())
        break
      case 'syncs stall':
        node.disk.stallSyncs(this.#ms(10, 5_000))
        break
      default:
        throw new Error(`${kind} is not a fault of a node`)
    }
  }

  /** Draws the duration of a fault that begins now. */
  #ms(min: number, max: number): number {
    return this.#last(this.#dependencies.random.logarithmic(min, max))
  }

  #last(ms: number): number {
    this.#lastsUntilMs = Math.max(this.#lastsUntilMs, this.#dependencies.scheduler.nowMs + ms)
    return ms
  }
}
