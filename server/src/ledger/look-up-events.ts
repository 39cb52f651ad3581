import { sql, type Kysely } from 'kysely'
import type { Schema } from '../platform/db/schema'

/** The part of a usage event by which the ledger is asked for it. */
export interface EventKey {
  id: string
  /** ISO 8601, in UTC. */
  startedAt: string
  isOrphan: boolean
}

/** The events that the ledger has, and those that it lacks. */
export interface LookedUpEvents {
  knownIds: ReadonlySet<string>
  missingIds: ReadonlySet<string>
}

/**
 * Looks events up. One that is recorded as dead only, and is settled by now, is missing; one from before the days that the
 * ledger keeps is neither known nor missing.
 */
export async function lookUpEvents(
  db: Kysely<Schema>,
  events: readonly EventKey[],
): Promise<LookedUpEvents> {
  const knownIds = new Set<string>()
  const missingIds = new Set<string>()
  if (events.length === 0) return { knownIds, missingIds }
  // As one text: the driver writes lists item by item.
  const ids = events.map(({ id }) => id).join(' ')
  // ISO 8601 in UTC sorts as text: the partitions of other days need not be read.
  const times = events.map(({ startedAt }) => startedAt)
  const first = times.reduce((a, b) => (a < b ? a : b))
  const last = times.reduce((a, b) => (a > b ? a : b))
  const { rows } = await sql<{ since: Date | null; id: string | null; state: string | null }>`
    select (select nullif(kept_since, '-infinity') from audit) as since, found.id, found.state
    from (values (1)) as one (row)
    left join (
      select id, state from usage_event
      where id = any(string_to_array(${ids}, ' '))
        and started_at between ${first}::timestamptz and ${last}::timestamptz
    ) as found on true`.execute(db)
  const states = new Map(rows.map(({ id, state }) => [id, state]))
  const sinceMs = rows[0]?.since?.getTime() ?? -Infinity
  for (const { id, startedAt, isOrphan } of events) {
    const state = states.get(id)
    if (state !== undefined && (state !== 'orphan' || isOrphan)) knownIds.add(id)
    else if (Date.parse(startedAt) >= sinceMs) missingIds.add(id)
  }
  return { knownIds, missingIds }
}
