import type { BucketReading } from '../counters'
import type { OtherSlices } from './slice-document'

/** Units that other nodes wait for. */
interface RecalledUnits {
  units: number
  /** Of this process's clock. */
  untilMs: number
}

/** The time for which a node gives away at once what becomes free, once another node has asked for it. */
export const recallLifeMs = 60_000

/** This node's slice of one limit. */
export class LocalSlice {
  readonly bucket: string
  readonly isWindow: boolean
  /** The units that this node may have in use. */
  units = 0
  /** Those of `units` that no store has granted, as it did not answer in time. */
  assumed = 0
  /** Units of the limit that no node had at the last exchange. */
  unassigned = 0
  /** The other nodes, as of the last exchange. */
  otherSlices: OtherSlices = { reserved: 0, idle: 0, used: 0, stranded: 0, expiring: [] }
  /** Units that waiting requests still lacked at the last exchange. */
  missingUnits = 0
  /** The limit under which the units were granted. */
  #limit: number
  /** The weights of requests that wait for units, in their order. */
  readonly waiting: number[] = []
  recalledUnits: RecalledUnits = { units: 0, untilMs: -Infinity }
  /** Whether it counts tokens, which are given back; requests are not. */
  isWeighted = false
  /** No request fits until then. */
  full: { reading: BucketReading; untilMs: number } | undefined
  statedAtMs = -Infinity
  /** Whether a request asked for units since the last sweep, and the time of the last sweep that found one. */
  isUsed = false
  usedAtMs = -Infinity

  constructor(bucket: string, at: { isWindow: boolean; limit: number }) {
    this.bucket = bucket
    this.isWindow = at.isWindow
    this.#limit = at.limit
  }

  get limit(): number {
    return this.#limit
  }

  /** Follows a change of the limit: a lower one leaves each node its part, so that all nodes together keep to it. */
  set limit(limit: number) {
    if (limit < this.#limit) this.units = Math.floor((this.units * limit) / this.#limit)
    if (limit !== this.#limit) this.full = undefined
    this.unassigned = Math.min(this.unassigned, Math.max(0, limit - this.units))
    this.#limit = limit
  }

  /** Takes units without a grant, until the next exchange states them. */
  assume(units: number): void {
    this.units = units
    this.assumed = units
  }

  /** Takes back units that were assumed after an exchange began, whose grant is for all that this node has. */
  dropAssumed(): void {
    this.units = Math.max(0, this.units - this.assumed)
    this.assumed = 0
  }

  /**
   * Gives units away that another node waits for, of those that are idle here: half of them, as it will need more, but
   * at least those that it waits for. Returns whether it still waits.
   */
  give(used: number, nowMs: number): boolean {
    const { units, untilMs } = this.recalledUnits
    if (units <= 0 || untilMs <= nowMs) return false
    const idle = Math.max(0, this.units - used)
    const grantedUnits = Math.min(idle, Math.max(units, Math.ceil(idle / 2)))
    this.units -= grantedUnits
    this.recalledUnits.units = Math.max(0, units - grantedUnits)
    return this.recalledUnits.units > 0
  }

  /** The units beyond its own that its waiting requests need: of the first, of the first two, and so on. */
  needs(used: number): number[] {
    let sum = used
    const needs: number[] = []
    for (const weight of this.waiting) {
      sum += weight
      if (sum > this.units) needs.push(sum - this.units)
    }
    return needs
  }
}
