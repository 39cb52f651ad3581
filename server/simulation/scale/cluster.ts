import type { RegionLoss, ScaleProfile } from './profile'
import { RecentRecalls } from './recent-recalls'
import { RegionalDatabase } from './regional-database'
import { RegionalNode, type RegionalPorts } from './regional-node'
import { SentCounter } from './sent-counter'
import { Random } from '../random'
import { Scheduler, type SimulatedProcess } from '../scheduler'
import { ReferenceLedger, type ReferenceEvent } from '../../testing/ledger/reference-ledger'
import type { ReferenceLease } from '../../testing/ledger/reference-leases'
import { SimulatedSliceServer } from '../../testing/limits/simulated-slice-store'

type OnBooked = (events: readonly ReferenceEvent[], fresh: readonly ReferenceEvent[]) => void

const startWithinMs = 1000
/** A node that was cut off has known for so long that others may need credit. */
const noticeMs = 3000
/** The simulated network loses nothing: each call waits as long as its real caller does. */
const sliceTimeoutMs = 5000

/** The nodes of all regions, and the database and the store of limits that they share. */
export class Cluster {
  readonly scheduler = new Scheduler()
  readonly ledger = new ReferenceLedger()
  readonly database: RegionalDatabase
  readonly sliceServer: SimulatedSliceServer
  readonly sent: SentCounter
  readonly nodes: readonly RegionalNode[]
  /** Called when events were booked. */
  onBooked: OnBooked = () => undefined
  readonly #profile: ScaleProfile
  readonly #random: Random
  /** The processes of all starts by their ids, dead ones included, and the number of those that serve. */
  readonly #processes = new Map<string, SimulatedProcess>()
  #serving = 0
  /** The starts that serve and can return credit. */
  readonly #returning = new Set<string>()
  #ids = 0

  constructor(profile: ScaleProfile) {
    this.#profile = profile
    this.#random = new Random(profile.seed + 1)
    this.database = new RegionalDatabase(this.scheduler, this.#random)
    this.database.idleTransactionMs = profile.idleTransactionMs
    this.sent = new SentCounter(this.database)
    const sliceLatencies = new Map<string, number>()
    this.sliceServer = new SimulatedSliceServer({
      delayMs: (node) => (sliceLatencies.get(node) ?? 0) * (0.8 + 0.4 * this.#random.next()),
      isLost: () => false,
      timeoutMs: sliceTimeoutMs,
      after: (ms, run, node) => this.scheduler.after(ms, run, this.#processes.get(node ?? '')),
    })
    const ports = this.#ports(sliceLatencies)
    this.nodes = Array.from(
      { length: profile.nodes },
      (_, number) => new RegionalNode(number, number % profile.regions, ports),
    )
    for (const [number, node] of this.nodes.entries()) {
      this.scheduler.after((startWithinMs * number) / profile.nodes, () => node.start())
    }
  }

  readonly newId = (prefix: string): string => `${prefix}-${String(++this.#ids).padStart(9, '0')}`

  #ports(sliceLatencies: Map<string, number>): RegionalPorts {
    const { scheduler, ledger, database, sliceServer, sent, newId } = this
    return {
      scheduler,
      ledger,
      database,
      sliceServer,
      sliceLatencies,
      newId,
      random: this.#random,
      profile: this.#profile,
      recalls: new RecentRecalls(scheduler),
      nodes: () => Math.max(1, this.#serving),
      bookingRoundTrips: this.#profile.bookingRoundTrips,
      onStatement: sent.onStatement,
      sliceCalls: sent.slices,
      onBooked: (events, fresh) => this.onBooked(events, fresh),
      onChange: () => this.#noteChange(),
    }
  }

  #noteChange(): void {
    this.#serving = 0
    for (const node of this.nodes) {
      const { process } = node
      if (!process) continue
      const { nodeId } = process
      this.#serving += 1
      if (this.#processes.has(nodeId)) continue
      this.#processes.set(nodeId, process)
      this.#returning.add(nodeId)
      node.openLimits()
    }
  }

  /** Tells whether the node of a lease serves, and has known for a while that others may need credit. */
  canReturn({ nodeId }: Pick<ReferenceLease, 'nodeId'>): boolean {
    return this.#returning.has(nodeId)
  }

  /** Tells whether the process with this id has lost its power. */
  isDead(nodeId: string): boolean {
    return this.#processes.get(nodeId)?.isAlive === false
  }

  /** Loses a region for a time: the power of all its nodes at once, or their connections. Returns the nodes. */
  lose(region: number, { loss, ms }: { loss: RegionLoss; ms: number }): ReadonlySet<RegionalNode> {
    const lost = new Set(this.nodes.filter((node) => node.region === region))
    for (const node of lost) {
      const nodeId = node.process?.nodeId ?? ''
      this.#returning.delete(nodeId)
      if (loss === 'killed') {
        node.cutPower()
        this.scheduler.after(ms, () => node.start())
        continue
      }
      node.cutOff(this.scheduler.nowMs + ms)
      this.scheduler.after(ms + noticeMs, () => this.#returning.add(nodeId))
    }
    return lost
  }
}
