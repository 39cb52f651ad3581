import { AsyncLocalStorage } from 'node:async_hooks'
import type { DatabaseConnection } from 'kysely'

/** A change that is recorded in the audit log in the same transaction. */
export interface AuditedChange {
  /** Writes its row in a transaction that is about to commit; false if no row has to be written. */
  writeOn: (connection: DatabaseConnection) => Promise<boolean>
  /** Whether that transaction has committed. */
  isOnRecord: boolean
  /** The id of the row that it created, before there is an answer that contains the id. */
  createdId: string | undefined
}

/** The change that the current asynchronous context belongs to. */
export const currentChange = new AsyncLocalStorage<AuditedChange>()

/** Runs work that the current change waits for, and that is no part of it: its transactions record nothing. */
export const runApart = <Value>(run: () => Value): Value => currentChange.exit(run)

/** Records the id of a row that a change creates in a transaction. Without a change under way this does nothing. */
export function noteCreated(id: string): void {
  const change = currentChange.getStore()
  if (change) change.createdId = id
}
