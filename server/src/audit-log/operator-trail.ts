import { sql, type Kysely } from 'kysely'
import { findConcernedIds, toObjectKind } from './changed-object'
import { toRecordedFields } from './recorded-request'
import { newId } from '../platform/db/id'
import type { Schema } from '../platform/db/schema'
import { storable } from '../platform/db/storable'
import { currentChange, type AuditedChange } from '../platform/db/background-work'

/** A change that an operator requested, or a read that disclosed an account's data. */
export interface OperatorChange {
  /** The account of a session; null for the operator key. */
  actorId: string | null
  method: string
  /** The route as registered, without the values of its parameters. */
  route: string
  /** The ids in the path, in order. */
  pathIds: readonly string[]
  /** The account whose data was read; undefined where the path names it. */
  accountId?: string | undefined
  /** The body, once the handler has read it. */
  sent: Readonly<Record<string, unknown>> | undefined
  requestId: string
  clientAddress: string | null
}

/** The outcome of an operator's change. */
export interface ChangeOutcome {
  isDone: boolean
  /** Id of the created object, as the answer gives it. */
  createdId?: string | undefined
}

export type Trail = ReturnType<typeof createTrail>

/** Records operators' changes in the audit log. */
export const createTrail = (db: Kysely<Schema>) => ({
  /**
   * Runs a change and records it before it resolves: in the change's own transaction where it has one, else right
   * after it; once, and not at all where nothing was changed. Rejects when the record cannot be written. `read` is
   * called at the moment of recording.
   */
  async record(read: () => OperatorChange, run: () => Promise<ChangeOutcome>): Promise<void> {
    let isOver = false
    const change: AuditedChange = {
      isOnRecord: false,
      createdId: undefined,
      async writeOn(connection) {
        // Work that a change has started may outlive it.
        if (isOver || change.isOnRecord) return false
        const row = rowOf(read(), change.createdId)
        const { numAffectedRows } = await connection.executeQuery(insertInto(row).compile(db))
        return numAffectedRows !== 0n
      },
    }
    const { isDone, createdId } = await currentChange.run(change, run)
    isOver = true
    if (!isDone || change.isOnRecord) return
    await db
      .insertInto('audit_trail')
      .values(rowOf(read(), change.createdId ?? createdId))
      .execute()
  },
})

function rowOf(change: OperatorChange, createdId: string | undefined) {
  const { actorId, method, route, pathIds, accountId, sent, requestId, clientAddress } = change
  const ids = accountId === undefined ? pathIds : [...pathIds, accountId]
  const objectId = createdId ?? pathIds.at(-1)
  return {
    id: newId('trail'),
    actor_id: actorId,
    method,
    route,
    object_kind: toObjectKind(route, objectId),
    object_id: objectId === undefined ? null : storable(objectId),
    concerned: findConcernedIds(ids, sent, objectId).map(storable),
    sent: sent === undefined ? null : JSON.stringify(toRecordedFields(`${method} ${route}`, sent)),
    request_id: requestId,
    client_address: clientAddress,
  }
}

/** Inserts nothing where the transaction has only read. */
const insertInto = (row: ReturnType<typeof rowOf>) => sql`
  insert into audit_trail
    (id, actor_id, method, route, object_kind, object_id, concerned, sent, request_id, client_address)
  select ${row.id}, ${row.actor_id}::text, ${row.method}, ${row.route}, ${row.object_kind},
    ${row.object_id}::text, ${row.concerned}::text[], ${row.sent}::jsonb, ${row.request_id},
    ${row.client_address}::text
  where pg_current_xact_id_if_assigned() is not null`
