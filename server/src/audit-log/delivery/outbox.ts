import { sql, type Kysely } from 'kysely'
import { findEntries, type AuditEntry } from '../entries'
import type { AuditDestinationRow } from '../../platform/db/audit-destination-schema'
import type { Schema } from '../../platform/db/schema'

/** A destination that a run has taken. */
export type TakenDestination = Pick<
  AuditDestinationRow,
  'id' | 'organization_id' | 'name' | 'kind' | 'secret'
> & { runs: bigint; failures: number }

/** The end of a run's lease: longer than a batch lasts with its record. */
const leaseEnd = sql<Date>`now() + interval '90 seconds'`
const maxEntries = 50
const maxBytes = 262_144
const firstPauseSeconds = 5
const maxPauseSeconds = 300

/** Leases destinations for which entries wait. */
export async function takeDestinations(
  db: Kysely<Schema>,
  limit: number,
): Promise<TakenDestination[]> {
  const { rows } = await sql<TakenDestination>`
    update audit_destination set runs = runs + 1, leased_until = ${leaseEnd}
    where id in (
      select id from audit_destination as due
      where enabled and next_attempt_at <= now() and coalesce(leased_until, '-infinity') <= now()
        and exists (select from audit_outbox where destination_id = due.id)
      order by next_attempt_at limit ${limit} for no key update skip locked
    )
    returning id, organization_id, name, kind, secret, runs, failures`.execute(db)
  return rows
}

/** The first entries that wait for a destination, in order. */
export interface Batch {
  /** Positions of the queue, those of deleted entries too. */
  items: { position: bigint; entry: AuditEntry | undefined }[]
}

/** Reads a batch that is bounded in number and bytes. */
export async function readBatch(db: Kysely<Schema>, destinationId: string): Promise<Batch> {
  const rows = await db
    .selectFrom('audit_outbox')
    .select(['position', 'entry_id'])
    .where('destination_id', '=', destinationId)
    .orderBy('position')
    .limit(maxEntries)
    .execute()
  if (rows.length === 0) return { items: [] }
  const entries = await findEntries(
    db,
    rows.map((row) => row.entry_id),
  )
  let bytes = 0
  const items: Batch['items'] = []
  for (const { position, entry_id: entryId } of rows) {
    const entry = entries.get(entryId)
    bytes += entry ? JSON.stringify(entry).length : 0
    if (items.length > 0 && bytes > maxBytes) break
    items.push({ position, entry })
  }
  return { items }
}

/** The part of a batch that a destination took, and the reason why it took no more. */
export interface BatchProgress {
  /** Positions that leave the queue. */
  donePositions: bigint[]
  /** The number of entries that were taken. */
  takenCount: number
  error: string | undefined
}

/**
 * Records a batch. Resolves with whether the run may go on: not after a failure, nor where another run has taken the
 * destination meanwhile, as this one had outlived its lease; nor where it was disabled or deleted.
 */
export const recordProgress = (
  db: Kysely<Schema>,
  { id, runs, failures }: TakenDestination,
  { donePositions, takenCount, error }: BatchProgress,
): Promise<boolean> =>
  db.transaction().execute(async (trx) => {
    const hasFailed = error !== undefined
    const failed = takenCount > 0 ? 1 : failures + 1
    const pause = Math.min(maxPauseSeconds, firstPauseSeconds * 2 ** Math.min(failed - 1, 10))
    const row = await trx
      .updateTable('audit_destination')
      .set({
        failures: hasFailed ? failed : 0,
        failing_since: hasFailed ? sql<Date>`coalesce(failing_since, now())` : null,
        last_error: hasFailed ? error : sql<string | null>`last_error`,
        next_attempt_at: hasFailed
          ? sql<Date>`now() + make_interval(secs => ${pause})`
          : sql<Date>`now()`,
        leased_until: hasFailed ? null : leaseEnd,
        ...(takenCount > 0 && {
          delivered: sql<bigint>`delivered + ${takenCount}`,
          last_delivered_at: sql<Date>`now()`,
        }),
      })
      .where('id', '=', id)
      .where('runs', '=', runs)
      .returning('enabled')
      .executeTakeFirst()
    if (!row) return false
    if (donePositions.length > 0) {
      await trx
        .deleteFrom('audit_outbox')
        .where('destination_id', '=', id)
        .where('position', 'in', donePositions)
        .execute()
    }
    return !hasFailed && row.enabled
  })

/** Ends the lease of a run, so that the next may follow at once. */
export const releaseDestination = (db: Kysely<Schema>, { id, runs }: TakenDestination) =>
  db
    .updateTable('audit_destination')
    .set({ leased_until: null })
    .where('id', '=', id)
    .where('runs', '=', runs)
    .execute()

/** The entries that wait for destinations, counted up to a million. */
interface OutboxState {
  waiting: number
  /** The age of the first entry that waits; 0 where none does. */
  oldestSeconds: number
  /** Destinations whose last attempt failed. */
  failing: number
}

export async function measureOutbox(db: Kysely<Schema>): Promise<OutboxState> {
  const { rows } = await sql<OutboxState>`
    select (select count(*)::float8 from (select from audit_outbox limit 1000000) as waiting_rows) as waiting,
      coalesce((
        select max(extract(epoch from clock_timestamp() - head.queued_at))::float8
        from audit_destination as destination cross join lateral (
          select queued_at from audit_outbox where destination_id = destination.id
          order by position limit 1
        ) as head where destination.enabled
      ), 0) as "oldestSeconds",
      (
        select count(*)::float8 from audit_destination where enabled and failing_since is not null
      ) as failing`.execute(db)
  return rows[0] ?? { waiting: 0, oldestSeconds: 0, failing: 0 }
}
