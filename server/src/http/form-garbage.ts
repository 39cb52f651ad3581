/** The resident memory that forms may add before garbage is collected for them. */
const maxGrowthBytes = 48 << 20
/** Looked at each time that so much has arrived. */
const stepBytes = 16 << 20

interface Runtime {
  residentBytes: () => number
  /** Collects all garbage, synchronously. */
  collect: () => void
}

/**
 * Collects the garbage that many forms leave as they arrive. Their pieces are few and large, and lie outside of the
 * heap by which the engine decides when to collect. One form at a time hardly ever reaches the bound.
 */
export class FormGarbage {
  readonly #runtime: Runtime
  #forms = 0
  #usualBytes = 0
  #unlookedBytes = 0

  constructor(runtime: Runtime) {
    this.#runtime = runtime
  }

  /** A form begins to arrive. Returns what is to be called at its end. */
  begin(): () => void {
    if (this.#forms === 0) this.#usualBytes = this.#runtime.residentBytes()
    this.#forms += 1
    return () => (this.#forms -= 1)
  }

  /** So many bytes of a form have arrived. */
  add(bytes: number): void {
    this.#unlookedBytes += bytes
    if (this.#unlookedBytes < stepBytes) return
    this.#unlookedBytes = 0
    if (this.#runtime.residentBytes() - this.#usualBytes < maxGrowthBytes) return
    // In the current turn of the event loop the last piece is still referenced.
    setImmediate(() => this.#runtime.collect())
  }
}
