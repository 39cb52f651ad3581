import { LocalSlice, recallLifeMs } from './local-slice'
import type { OwnUse } from './slice-exchanges'
import type { LimitBucket } from '../caller-limits'
import type { Demand, LimitBuckets } from '../counters'
import type { MemoryCounters } from '../memory-counters'

/** This node's slices, and what it uses of them. */
export class LocalSlices {
  readonly #own: Pick<MemoryCounters, 'expiring' | 'runningOf'>
  readonly #slices = new Map<string, LocalSlice>()
  /** Slices of which another node waits for units. */
  readonly #recalledSlices = new Set<LocalSlice>()
  /** All units that were taken without a grant. */
  assumedUnits = 0

  constructor(own: Pick<MemoryCounters, 'expiring' | 'runningOf'>) {
    this.#own = own
  }

  get(bucket: string): LocalSlice | undefined {
    return this.#slices.get(bucket)
  }

  /** Whether this node has a slice of each window of a demand. */
  knows({ windows }: Pick<Demand, 'windows'>): boolean {
    return windows.every(({ id }) => this.#slices.has(id))
  }

  /** Takes units without a grant, up to the limit, and counts them. */
  assume(slice: LocalSlice, share: number): void {
    const units = Math.min(slice.limit, share)
    slice.assume(units)
    this.assumedUnits += units
  }

  values(): Iterable<LocalSlice> {
    return this.#slices.values()
  }

  delete(slice: LocalSlice): void {
    this.#slices.delete(slice.bucket)
    this.#recalledSlices.delete(slice)
  }

  get hasRecalls(): boolean {
    return this.#recalledSlices.size > 0
  }

  /** Notes that another node waits for units of a slice. */
  noteRecall(slice: LocalSlice, units: number, nowMs: number): void {
    slice.recalledUnits = {
      units: Math.max(units, slice.recalledUnits.units),
      untilMs: nowMs + recallLifeMs,
    }
    this.#recalledSlices.add(slice)
  }

  /** Returns the slices of limits that other nodes still wait for. */
  recalledOf({ windows, running }: LimitBuckets, nowMs: number): LocalSlice[] {
    const recalledHere: LocalSlice[] = []
    for (const { id } of [...windows, ...running]) {
      const slice = this.#slices.get(id)
      if (!slice || !this.#recalledSlices.has(slice)) continue
      if (slice.recalledUnits.units > 0 && slice.recalledUnits.untilMs > nowMs)
        recalledHere.push(slice)
      else this.#recalledSlices.delete(slice)
    }
    return recalledHere
  }

  /** Returns the slice of a limit; a new one, without units, where this node has none. */
  of({ id, limit }: LimitBucket, isWindow: boolean): LocalSlice {
    const knownSlice = this.#slices.get(id)
    if (knownSlice) return knownSlice
    const slice = new LocalSlice(id, { isWindow, limit })
    this.#slices.set(id, slice)
    return slice
  }

  /** Returns the units of a limit that this node uses. */
  useOf({ bucket, isWindow }: LocalSlice): OwnUse {
    if (!isWindow) return { used: this.#own.runningOf(bucket), expiring: [] }
    let used = 0
    const expiring = this.#own.expiring(bucket)
    for (const [, units] of expiring) used += units
    return { used, expiring }
  }

  /** Returns the slices that do not suffice for a demand, or are not known yet. */
  shortOf({ windows, running, weight }: Demand) {
    const ofWindows = windows.map((bucket) => ({ slice: this.of(bucket, true), weight }))
    const ofSlots = running.map((bucket) => ({ slice: this.of(bucket, false), weight: 1 }))
    return [...ofWindows, ...ofSlots].filter(
      (one) =>
        one.slice.statedAtMs === -Infinity ||
        this.useOf(one.slice).used + one.weight > one.slice.units,
    )
  }

  /** Whether this node has nothing of the limits that do not suffice for a demand; it may have used a share since dropped. */
  hasNothing(demand: Demand): boolean {
    return this.shortOf(demand).every(({ slice }) => slice.units === 0)
  }

  /** Whether other nodes may still give back what the demand needs. */
  canOthersYield(demand: Demand): boolean {
    return this.shortOf(demand).every(
      ({ slice }) => slice.missingUnits > 0 && slice.otherSlices.idle >= slice.missingUnits,
    )
  }

  /** Whether the demand fits by what all nodes state as used; without what silent nodes may have idle. */
  mayFit(demand: Demand): boolean {
    return this.shortOf(demand).every(({ slice, weight }) => {
      const { used, stranded } = slice.otherSlices
      return this.useOf(slice).used + used + stranded + weight <= slice.limit
    })
  }
}
