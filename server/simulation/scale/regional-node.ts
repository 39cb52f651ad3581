import type { ScaleProfile } from './profile'
import { RegionalSliceStore, type SliceCallCounts } from './regional-slice-store'
import { SimulatedDisk } from '../disk'
import { SimulatedNode, type NodePorts } from '../node'
import type { Random } from '../random'
import { RateLimits } from '../../src/limits/limits'
import { SlicedCounters } from '../../src/limits/slices/sliced-counters'
import type { SimulatedSliceServer } from '../../testing/limits/simulated-slice-store'

export interface RegionalPorts extends NodePorts {
  profile: ScaleProfile
  random: Random
  sliceServer: SimulatedSliceServer
  sliceCalls: SliceCallCounts
  /** One way to the store of limits, by node. Milliseconds. */
  sliceLatencies: Map<string, number>
}

type Serving = NonNullable<SimulatedNode['serving']>

/** A serving process with its limits. */
export interface ServingNode {
  start: Serving
  limits: RateLimits
}

/** The distance of a region from the database, one way. Milliseconds. */
export const latencyOf = ({ nearMs, farMs }: ScaleProfile, region: number): number =>
  (region === 0 ? nearMs : farMs) / 2

/** A node of a region: the real leases, journal and limits, on a simulated disk, clock, network and database. */
export class RegionalNode {
  readonly region: number
  readonly #node: SimulatedNode
  readonly #ports: RegionalPorts
  /** Of the process that serves. */
  #limited: ServingNode | undefined

  constructor(number: number, region: number, ports: RegionalPorts) {
    this.region = region
    this.#ports = ports
    const { scheduler, random, profile } = ports
    const disk = new SimulatedDisk({
      random: () => random.next(),
      delay: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
      now: () => scheduler.wallMs(),
    })
    disk.makeDirectory('/data')
    const link = { latencyMs: latencyOf(profile, region), cutUntilMs: 0 }
    this.#node = new SimulatedNode(`node ${number} of region ${region}`, ports, { link, disk })
  }

  get name(): string {
    return this.#node.name
  }

  /** The process that serves; undefined while there is none. */
  get process(): Serving | undefined {
    return this.#node.serving
  }

  /** The same with its limits. */
  get serving(): ServingNode | undefined {
    const start = this.#node.serving
    const limited = this.#limited
    return limited?.start === start ? limited : undefined
  }

  start(): void {
    this.#node.start()
  }

  /** Opens the limits of a process that has just begun to serve. */
  openLimits(): void {
    const start = this.#node.serving
    if (!start || this.#limited?.start === start) return
    const { sliceServer, sliceCalls, sliceLatencies, scheduler, profile } = this.#ports
    const { nodeId } = start
    sliceLatencies.set(nodeId, latencyOf(profile, this.region))
    scheduler.runAs(start, () => {
      const store = new RegionalSliceStore(sliceServer, {
        kind: profile.sliceStore,
        node: nodeId,
        counts: sliceCalls,
        onBack: () => void counters.start(),
      })
      const counters = new SlicedCounters({ store, node: nodeId })
      sliceServer.subscribe(nodeId, (recall) =>
        scheduler.after(0, () => counters.onRecall(recall), start),
      )
      void counters.start()
      this.#limited = { start, limits: new RateLimits(counters) }
    })
  }

  /** Loses its power, and sends nothing more: the database does not know that it is gone. */
  cutPower(): void {
    const { nodeId } = this.process ?? {}
    if (nodeId !== undefined) this.#ports.sliceServer.unsubscribe(nodeId)
    this.#node.cutPower()
  }

  cutOff(untilMs: number): void {
    const { sliceServer, scheduler } = this.#ports
    const { nodeId = '' } = this.process ?? {}
    this.#node.link.cutUntilMs = untilMs
    sliceServer.cutOff.add(nodeId)
    scheduler.after(untilMs - scheduler.nowMs, () => sliceServer.cutOff.delete(nodeId))
  }
}
