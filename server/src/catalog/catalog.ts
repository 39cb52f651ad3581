import { toSnapshot, type SnapshotRows, type Snapshot } from './snapshot'

interface CatalogOptions {
  /** Reads the parts known without a database: the built-in catalogue, environment, local servers. */
  fixed: () => SnapshotRows
  /** Reads the parts that operators stored. */
  stored: () => Promise<SnapshotRows>
  onError: (error: unknown) => void
}

const retryMs = 1000
/** The maximum delay of a timer. */
const maxMs = 2_147_483_647

/**
 * Holds the catalogue in memory. `refresh` applies changes; while the database does not answer, the last good
 * catalogue stays.
 */
export class Catalog implements Disposable {
  readonly #options: CatalogOptions
  #snapshot: Snapshot
  #fixed: SnapshotRows
  #running: Promise<void> | undefined
  #isRefreshDue = false
  #timer: ReturnType<typeof setTimeout> | undefined
  /** Runs until a planned price takes effect. */
  #priceTimer: ReturnType<typeof setTimeout> | undefined
  #closed = false

  constructor(options: CatalogOptions) {
    this.#options = options
    this.#fixed = options.fixed()
    this.#snapshot = toSnapshot(this.#fixed)
  }

  get snapshot(): Snapshot {
    return this.#snapshot
  }

  /** The part of the snapshot that no operator stored. */
  get fixed(): Pick<SnapshotRows, 'providers' | 'connections'> {
    return this.#fixed
  }

  /** Reads the catalogue again. Calls made meanwhile share one further read. Rejects when it fails. */
  refresh(): Promise<void> {
    if (this.#running) {
      this.#isRefreshDue = true
      return this.#running
    }
    this.#running = this.#read().finally(() => {
      this.#running = undefined
    })
    return this.#running
  }

  /** Refreshes in the background, and retries until it succeeds. */
  refreshSoon(): void {
    this.refresh().catch((error: unknown) => {
      this.#options.onError(error)
      clearTimeout(this.#timer)
      if (!this.#closed) this.#timer = setTimeout(() => this.refreshSoon(), retryMs)
    })
  }

  async #read(): Promise<void> {
    do {
      this.#isRefreshDue = false
      const stored = await this.#options.stored()
      const fixed = this.#options.fixed()
      this.#fixed = fixed
      this.#snapshot = toSnapshot({
        models: [...fixed.models, ...stored.models],
        providers: [...fixed.providers, ...stored.providers],
        connections: [...fixed.connections, ...stored.connections],
        collections: stored.collections ?? [],
        prices: stored.prices,
        costs: stored.costs,
      })
      this.#awaitPrice(stored.prices?.nextInMs)
    } while (this.#isRefreshDue)
  }

  /** Reads again when the next price takes effect; slightly later, as clocks differ. */
  #awaitPrice(nextInMs: number | undefined): void {
    clearTimeout(this.#priceTimer)
    if (nextInMs === undefined || this.#closed) return
    const waitMs = Math.min(maxMs, Math.ceil(nextInMs) + 1)
    this.#priceTimer = setTimeout(() => this.refreshSoon(), waitMs)
    this.#priceTimer.unref()
  }

  [Symbol.dispose](): void {
    this.#closed = true
    clearTimeout(this.#priceTimer)
    clearTimeout(this.#timer)
  }
}
