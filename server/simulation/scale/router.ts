import type { Population } from './population'
import type { RegionLoss, ScaleProfile } from './profile'
import type { RegionalNode } from './regional-node'
import type { Random } from '../random'
import type { Scheduler } from '../scheduler'

/** `DATABASE_GRACE_SECONDS`: so long without a database a node stays ready, and gets requests. */
const graceMs = 45_000
/** A region that is back gets requests again after so long, at those of its nodes that serve. */
const probedMs = 10_000

interface Dependencies {
  profile: ScaleProfile
  nodes: readonly RegionalNode[]
  population: Population
  random: Random
  scheduler: Scheduler
}

/** The load balancer: sends requests to nodes that are ready. A region without any is replaced by the others. */
export class Router {
  readonly #dependencies: Dependencies
  readonly #byRegion: readonly (readonly RegionalNode[])[]
  /** Regions that get no requests, and the time of that. */
  readonly #closed = new Map<number, { fromMs: number; untilMs: number }>()

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
    const { profile, nodes } = dependencies
    this.#byRegion = Array.from({ length: profile.regions }, (_, region) =>
      nodes.filter((node) => node.region === region),
    )
  }

  /** A killed region refuses connections at once; one that is cut off is no longer ready after a while. */
  lose(region: number, { loss, ms }: { loss: RegionLoss; ms: number }): void {
    const { nowMs } = this.#dependencies.scheduler
    const fromMs = nowMs + (loss === 'killed' ? 0 : graceMs)
    this.#closed.set(region, { fromMs, untilMs: nowMs + ms + probedMs })
  }

  /** Returns the node at which a request of an account arrives. */
  route(account: number): RegionalNode | undefined {
    const { profile, random, population } = this.#dependencies
    const open = this.#byRegion
      .map((_, region) => this.#readyIn(region))
      .filter((nodes) => nodes.length > 0)
    if (open.length === 0) return undefined
    if (profile.affinity === 'anywhere') return random.pick(open.flat())
    const home = this.#readyIn(population.homeOf(account))
    const isSticky = profile.affinity === 'node'
    const other = isSticky ? open[account % open.length] : random.pick(open)
    const nodes = home.length > 0 ? home : (other ?? [])
    return isSticky ? nodes[account % nodes.length] : random.pick(nodes)
  }

  /** Returns the nodes of a region that get requests. */
  #readyIn(region: number): readonly RegionalNode[] {
    const nodes = this.#byRegion[region] ?? []
    const closed = this.#closed.get(region)
    if (!closed) return nodes
    const { nowMs } = this.#dependencies.scheduler
    const isOpen = nowMs < closed.fromMs || nowMs >= closed.untilMs
    return isOpen ? nodes.filter((node) => node.process) : []
  }
}
