import { LocalSlice } from './local-slice'
import type { OwnUse } from './slice-exchanges'
import type { LimitBucket } from '../caller-limits'
import type { Demand } from '../counters'
import type { MemoryCounters } from '../memory-counters'

/** This node's slices, and what it uses of them. */
export class LocalSlices {
  readonly #own: Pick<MemoryCounters, 'expiring' | 'runningOf'>
  readonly #slices = new Map<string, LocalSlice>()
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

  delete({ bucket }: LocalSlice): void {
    this.#slices.delete(bucket)
  }

  /** Returns the slice of a limit; a new one, without units, where this node has none. */
  of({ id, limit }: LimitBucket, isWindow: boolean): LocalSlice {
    const known = this.#slices.get(id)
    if (known) return known
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

  /** Whether this node has and uses nothing of the limits that do not suffice for a demand. */
  isUntouched(demand: Demand): boolean {
    return this.shortOf(demand).every(
      ({ slice }) => slice.units === 0 && this.useOf(slice).used === 0,
    )
  }

  /** Whether other nodes may still give back what the demand needs. */
  canOthersYield(demand: Demand): boolean {
    return this.shortOf(demand).every(
      ({ slice }) => slice.missing > 0 && slice.others.idle >= slice.missing,
    )
  }

  /** Whether the demand fits by what all nodes state as used; without what silent nodes may have idle. */
  mayFit(demand: Demand): boolean {
    return this.shortOf(demand).every(({ slice, weight }) => {
      const { used, stranded } = slice.others
      return this.useOf(slice).used + used + stranded + weight <= slice.limit
    })
  }
}
