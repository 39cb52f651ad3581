import { AsyncLocalStorage } from 'node:async_hooks'
import type { DatabaseConnection } from 'kysely'

/** A change that goes on record together with what it changes. */
export interface Underway {
  /** Puts its row into a transaction that is about to commit; false where none has to be there. */
  writeOn: (connection: DatabaseConnection) => Promise<boolean>
  /** That transaction has committed. */
  isOnRecord: boolean
  /** What it made, before there is an answer to read that from. */
  madeId: string | undefined
}

/** The change that the code which asks is a part of. */
export const underway = new AsyncLocalStorage<Underway>()

/** Notes what a change makes in a transaction. Elsewhere its answer says it; where nobody asks, nothing happens. */
export function noteMade(id: string): void {
  const change = underway.getStore()
  if (change) change.madeId = id
}
