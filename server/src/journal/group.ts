import type { JournalError } from './error'
import type { JournalChange } from './log'

type Deferred = ReturnType<typeof Promise.withResolvers<void>>

/** The changes of the next write, and the callers that wait for it: one promise for all of a kind. */
export class JournalGroup {
  readonly changes: JournalChange[] = []
  settlements = 0
  #written: Deferred | undefined
  #synced: Deferred | undefined

  /** Resolves when the change is written or, where its caller needs that, on disk. */
  add(change: JournalChange): Promise<void> {
    this.changes.push(change)
    if (change.kind !== 'settle') return (this.#written ??= Promise.withResolvers<void>()).promise
    this.settlements += 1
    return (this.#synced ??= Promise.withResolvers<void>()).promise
  }

  /** Resolves the callers that wait for the write. Returns those that wait for the disk, if any. */
  resolveWritten(): (Deferred & { settlements: number }) | undefined {
    this.#written?.resolve()
    return this.#synced && { ...this.#synced, settlements: this.settlements }
  }

  reject(cause: JournalError): void {
    this.#written?.reject(cause)
    this.#synced?.reject(cause)
  }
}
