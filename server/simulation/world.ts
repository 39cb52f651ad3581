import { AccountObserver } from './accounts'
import { Customers } from './customers'
import { SimulatedDatabase } from './database'
import { SimulatedDisk } from './disk'
import { FaultInjector } from './fault-injector'
import { LaggingStandby, type Failovers } from './lagging-standby'
import { SimulatedNode, type NodePorts } from './node'
import { drawProfile, isPatient, isReliable, type Profile } from './profile'
import { Random } from './random'
import { Scheduler } from './scheduler'
import { Violations, type Violation } from './violations'
import { ReferenceLedger } from '../testing/ledger/reference-ledger'

export interface Outcome {
  seed: number
  profile: Profile
  violations: readonly Violation[]
  simulatedMs: number
  events: number
  /** The number of faults of each kind. */
  faults: ReadonlyMap<string, number>
  requests: { requests: number; served: number; refused: number; failed: number }
  /** The time that requests waited for their verdicts, in milliseconds. */
  waits: { p99: number; max: number }
  /** The number of statements about leases that nodes sent for requests, each of them a commit. */
  leaseStatements: number
  /** The number of failovers of the database, and of booked events that they lost. */
  failovers: { failovers: number; lost: number }
}

export interface RunOptions {
  seed: number
  /** The duration of faults, in simulated milliseconds, followed by recovery. */
  faultyMs: number
  /** Overrides of the profile of the seed. */
  change?: (profile: Profile) => Profile
  /** The ledger of the database; a test may replace it by a defective one. */
  ledger?: ReferenceLedger
  /** Without it, the database never goes back. */
  failovers?: Failovers
}

const startMs = 5000
/** Idle leases are returned after 30 s, orphaned ones swept two minutes after their last renewal. */
const healingMs = 260_000
const compareEveryMs = 5000
/** A statement about a lease that serves a request; renewals are periodic. */
const leaseKinds: ReadonlySet<string> = new Set(['take', 'takeFree', 'giveBack', 'fence'])

/** Without faults: a node waits for round trips of all others before it, and for what it asks them itself. */
const maxWaitMs = ({ roundTripMs, isCalledInTurn }: Profile) =>
  (isCalledInTurn ? 1 : 2) * (1000 + 10 * roundTripMs)

/** The maximum staleness of a rejection: the state of nodes is at most a second old. */
const slackMs = 1000

/** One run: nodes, a database and customers, derived from a seed. */
class World {
  readonly #random: Random
  readonly #profile: Profile
  readonly #scheduler = new Scheduler()
  readonly #ledger: ReferenceLedger
  readonly #database: SimulatedDatabase
  readonly #nodes: SimulatedNode[] = []
  readonly #observer: AccountObserver
  readonly #violations: Violations
  #customers: Customers | undefined
  #injector: FaultInjector | undefined
  #standby: LaggingStandby | undefined
  readonly #options: RunOptions
  #ids = 0
  #leaseStatements = 0

  constructor(options: RunOptions) {
    const { seed, change, ledger = new ReferenceLedger() } = options
    this.#options = options
    this.#ledger = ledger
    this.#random = new Random(seed)
    const drawn = drawProfile(this.#random)
    this.#profile = change?.(drawn) ?? drawn
    this.#database = new SimulatedDatabase(this.#scheduler, this.#random)
    this.#observer = new AccountObserver(this.#ledger, this.#scheduler, {
      canReturn: (leaseId, { nodeId }) =>
        this.#nodes.find(({ serving }) => serving?.nodeId === nodeId)?.canReturn(leaseId) ?? false,
      slackMs,
    })
    this.#violations = new Violations({
      ...this.#dependencies,
      isPatient: isPatient(this.#profile),
      maxWaitMs: maxWaitMs(this.#profile),
      faultsUntilMs: () =>
        isReliable(this.#profile) ? (this.#injector?.lastsUntilMs ?? Infinity) : Infinity,
    })
    const ports = this.#nodePorts()
    for (let number = 0; number < this.#profile.nodes; number++) this.#addNode(number, ports)
  }

  get #dependencies() {
    return {
      scheduler: this.#scheduler,
      random: this.#random,
      profile: this.#profile,
      database: this.#database,
      ledger: this.#ledger,
      observer: this.#observer,
      nodes: this.#nodes,
    }
  }

  readonly #newId = (prefix: string) => `${prefix}-${String(++this.#ids).padStart(7, '0')}`
  readonly #onChange = () => this.#observer.lookAtAll()

  #nodePorts(): NodePorts {
    return {
      ...this.#dependencies,
      recalls: new Map(),
      newId: this.#newId,
      isMending: this.#options.failovers?.isMended ?? false,
      nodes: () => Math.max(1, this.#nodes.filter(({ serving }) => serving).length),
      onBooked: (events, fresh) => {
        for (const event of fresh) this.#observer.booked(event)
        this.#violations.checkBooked(events, this.#customers?.mayBeWrittenOff ?? new Set())
      },
      onChange: this.#onChange,
      onStatement: (kind) => {
        if (leaseKinds.has(kind)) this.#leaseStatements += 1
      },
    }
  }

  #addNode(number: number, ports: NodePorts): void {
    const disk = new SimulatedDisk({
      random: () => this.#random.next(),
      delay: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
      now: () => this.#scheduler.wallMs(),
    })
    disk.makeDirectory('/data')
    const link = { latencyMs: this.#profile.roundTripMs / 2, cutUntilMs: 0 }
    const node = new SimulatedNode(`node ${number}`, ports, { link, disk })
    this.#nodes.push(node)
    this.#scheduler.after(this.#random.next() * 100, () => node.start())
  }

  run(faultyMs: number): void {
    const scheduler = this.#scheduler
    const dependencies = { ...this.#dependencies, violations: this.#violations, newId: this.#newId }
    scheduler.after(startMs, () => {
      this.#injector = new FaultInjector({ ...dependencies, onChange: this.#onChange })
      this.#customers = new Customers(dependencies)
      this.#addStandby(this.#customers)
    })
    const compare = () => {
      this.#violations.compareFigures()
      this.#observer.evictEnded()
      scheduler.after(compareEveryMs, compare)
    }
    scheduler.after(compareEveryMs, compare)
    scheduler.after(faultyMs, () => {
      this.#customers?.stop()
      this.#standby?.stop()
      this.#injector?.heal()
    })
    scheduler.runUntil(faultyMs + healingMs)
    this.#observer.concludeAll()
    const { delivered = new Map<string, bigint>(), toppedUp = 0n } = this.#customers ?? {}
    this.#violations.checkEnd(delivered, toppedUp)
  }

  #addStandby(customers: Customers): void {
    const { seed, failovers } = this.#options
    if (!failovers) return
    const dependencies = { ...this.#dependencies, customers, onChange: this.#onChange }
    this.#standby = new LaggingStandby(dependencies, failovers, seed)
  }

  outcome(seed: number): Outcome {
    const none = { requests: 0, served: 0, refused: 0, failed: 0 }
    const waits = (this.#customers?.waits ?? []).toSorted((a, b) => a - b)
    return {
      seed,
      profile: this.#profile,
      violations: this.#violations.found,
      simulatedMs: this.#scheduler.nowMs,
      events: this.#scheduler.events,
      faults: new Map<string, number>([
        ...(this.#injector?.counts ?? []),
        ...this.#database.counts,
      ]),
      requests: this.#customers?.counts ?? none,
      waits: { p99: waits[Math.ceil(waits.length * 0.99) - 1] ?? 0, max: waits.at(-1) ?? 0 },
      leaseStatements: this.#leaseStatements,
      failovers: this.#standby?.counts ?? { failovers: 0, lost: 0 },
    }
  }
}

/** Runs one seed from an empty database to the end, and returns the broken promises. */
export function simulate(options: RunOptions): Outcome {
  const world = new World(options)
  world.run(options.faultyMs)
  return world.outcome(options.seed)
}
