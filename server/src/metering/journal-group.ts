import type { JournalError } from './journal-error'
import type { JournalChange } from './journal-log'

type Deferred = ReturnType<typeof Promise.withResolvers<void>>

/** What the next write takes, and those who wait for it: one promise for all of a kind. */
export class JournalGroup {
  readonly changes: JournalChange[] = []
  settlements = 0
  #written: Deferred | undefined
  #synced: Deferred | undefined

  /** Resolves when the change is written or, where that matters to its caller, on disk. */
  add(change: JournalChange): Promise<void> {
    this.changes.push(change)
    if (change.kind !== 'settle') return (this.#written ??= Promise.withResolvers<void>()).promise
    this.settlements += 1
    return (this.#synced ??= Promise.withResolvers<void>()).promise
  }

  /** It is written. Returns who wait for the disk, where anybody does. */
  written(): (Deferred & { settlements: number }) | undefined {
    this.#written?.resolve()
    return this.#synced && { ...this.#synced, settlements: this.settlements }
  }

  reject(cause: JournalError): void {
    this.#written?.reject(cause)
    this.#synced?.reject(cause)
  }
}
