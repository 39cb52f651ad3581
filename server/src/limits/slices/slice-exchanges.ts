import { grantUnits } from './grant-units'
import type { LocalSlice } from './local-slice'
import type { ClusterView } from './slice-document'
import type { Recall, SliceStore, SliceWrite, StoredSlices, StoreMoment } from './slice-store'

/** The units of a limit that this node uses. */
export interface OwnUse {
  used: number
  /** When units in use become free: `[inMs, units]`, rising. */
  expiring: readonly (readonly [number, number])[]
}

export interface ExchangePorts {
  store: SliceStore
  node: string
  /** Monotonic milliseconds. */
  now: () => number
  useOf: (slice: LocalSlice) => OwnUse
  /** Whether this node shuts down: it keeps nothing but what it used. */
  isStopped: () => boolean
  view: (moment: StoreMoment, isWindow: boolean) => ClusterView
  /** The store has answered; returns whether slices may grow. */
  onMoment: (moment: StoreMoment, sentMs: number) => boolean
  /** The store has not answered what was sent at that time. */
  onFailure: (sentMs: number) => void
}

interface Pending {
  promise: Promise<boolean>
  resolve: (isDone: boolean) => void
  /** How often another node wrote between read and write. */
  conflicts: number
}

/** The buckets of one exchange. */
const maxBatch = 250
/** The tries of an exchange: it is repeated where another node wrote between read and write. */
const maxTries = 20
/** The pause between two recalls of the same units. Milliseconds. */
const recallPauseMs = 15

/**
 * Exchanges slices with the store: one exchange at a time. Requests meanwhile share the next one, and so do slices that
 * another node wrote in between. A node lowers its slice before it says so and raises it once the store has written it, so
 * that all slices together never exceed the limit, whatever is lost on the way.
 */
export class SliceExchanges {
  readonly #ports: ExchangePorts
  readonly #pending = new Map<LocalSlice, Pending>()
  readonly #recalledAtMs = new WeakMap<LocalSlice, number>()
  #running: Promise<void> | undefined

  constructor(ports: ExchangePorts) {
    this.#ports = ports
  }

  /** Resolves once the slice was exchanged after this call; with false where the store did not answer in time. */
  request(slice: LocalSlice): Promise<boolean> {
    const pendingExchange = this.#pending.get(slice)
    if (pendingExchange) return pendingExchange.promise
    const pending = { ...Promise.withResolvers<boolean>(), conflicts: 0 }
    this.#pending.set(slice, pending)
    this.#running ??= this.#run()
    return pending.promise
  }

  /** Resolves once nothing is left to exchange. */
  async flush(): Promise<void> {
    while (this.#running) await this.#running
  }

  async #run(): Promise<void> {
    // Requests of the same moment share an exchange.
    await Promise.resolve()
    while (this.#pending.size > 0) {
      const batch = new Map([...this.#pending].slice(0, maxBatch))
      for (const slice of batch.keys()) this.#pending.delete(slice)
      const conflicting = await this.#exchange([...batch.keys()])
      for (const [slice, pending] of batch) {
        if (conflicting?.has(slice)) this.#repeat(slice, pending)
        else pending.resolve(conflicting !== undefined)
      }
      if (!conflicting) this.#failPending()
    }
    // In this very moment: a request that an answer leads to begins the next run.
    this.#running = undefined
  }

  /** Repeats an exchange in the next one, which a request may already wait for. */
  #repeat(slice: LocalSlice, pending: Pending): void {
    pending.conflicts += 1
    const next = this.#pending.get(slice)
    if (pending.conflicts >= maxTries) pending.resolve(false)
    else if (next) void next.promise.then(pending.resolve)
    else this.#pending.set(slice, pending)
  }

  /** Fails the waiting exchanges too: they would only wait for another failure. */
  #failPending(): void {
    for (const { resolve } of this.#pending.values()) resolve(false)
    this.#pending.clear()
  }

  /** Returns the slices that other nodes wrote in between; undefined where the store did not answer. */
  async #exchange(slices: readonly LocalSlice[]): Promise<Set<LocalSlice> | undefined> {
    const sentMs = this.#ports.now()
    try {
      return new Set(await this.#attempt(slices, sentMs))
    } catch {
      this.#ports.onFailure(sentMs)
      return undefined
    }
  }

  /** Rejects as the store does. */
  async #attempt(slices: readonly LocalSlice[], sentMs: number): Promise<LocalSlice[]> {
    const { store, view, onMoment } = this.#ports
    const answer = await store.read(slices.map(({ bucket }) => bucket))
    const mayGrow = onMoment(answer, sentMs)
    const decided = slices.flatMap((slice, at) => {
      const storedSlice = answer.slices[at]
      const cluster = view(answer, slice.isWindow)
      return storedSlice
        ? [this.#decide(slice, storedSlice, { nowMs: answer.nowMs, mayGrow, view: cluster })]
        : []
    })
    const areWritten = await store.write(decided.map(({ write }) => write))
    const recalls: Recall[] = []
    for (const [at, { slice, apply, recall }] of decided.entries()) {
      if (!areWritten[at]) continue
      apply()
      if (recall) recalls.push(recall)
      slice.statedAtMs = this.#ports.now()
    }
    if (recalls.length > 0) await store.recall(recalls)
    return decided.flatMap(({ slice }, at) => (areWritten[at] ? [] : [slice]))
  }

  #decide(
    slice: LocalSlice,
    { version, document }: StoredSlices,
    { view, nowMs, mayGrow }: { view: ClusterView; nowMs: number; mayGrow: boolean },
  ) {
    const { useOf, now, isStopped } = this.#ports
    const { used, expiring } = useOf(slice)
    if (isStopped()) slice.units = 0
    const isRecalled = slice.give(used, now())
    const before = slice.units
    // Stated from here on, as all that the node has.
    slice.assumed = 0
    const own = {
      units: before,
      expiring: expiring.map(([inMs, units]) => [nowMs + inMs, units] as const),
      running: slice.isWindow ? 0 : used,
      pushesUntilMs: isRecalled ? nowMs + (slice.recalledUnits.untilMs - now()) : 0,
      hasLeft: isStopped(),
    }
    const statement = { limit: slice.limit, own, needs: slice.needs(used), mayGrow }
    const grant = grantUnits(document, statement, view)
    // Less takes effect before it is written, more only after.
    slice.units = Math.min(before, grant.units)
    const write: SliceWrite = { bucket: slice.bucket, version, document: grant.document }
    const apply = () => {
      slice.dropAssumed()
      // Added, as it may have been lowered meanwhile; a lower limit makes the grant void.
      if (slice.limit === statement.limit) slice.units += Math.max(0, grant.units - before)
      slice.unassigned = grant.unassigned
      slice.otherSlices = grant.otherSlices
      slice.missingUnits = mayGrow ? grant.missingUnits : 0
    }
    return { slice, write, apply, recall: this.#toRecall(slice, grant) }
  }

  #toRecall(
    slice: LocalSlice,
    { missingUnits, otherSlices }: { missingUnits: number; otherSlices: { idle: number } },
  ) {
    if (missingUnits <= 0 || otherSlices.idle < missingUnits) return undefined
    const nowMs = this.#ports.now()
    if (nowMs - (this.#recalledAtMs.get(slice) ?? -Infinity) < recallPauseMs) return undefined
    this.#recalledAtMs.set(slice, nowMs)
    return { bucket: slice.bucket, units: missingUnits, from: this.#ports.node }
  }
}
