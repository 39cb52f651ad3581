import { sql, type Kysely } from 'kysely'
import { findObjectNames, type ObjectNames } from './object-names'
import type { TrailFilter } from './schema'
import type { Schema } from '../../../platform/db/schema'
import {
  operatorKey,
  selectOperatorRows,
  toExportedOperatorEntry,
  toOperatorEntry,
  type OperatorRow,
} from '../../../audit-log/entries'
import { readByKey } from '../../../http/keyed-lines'
import { queryPage } from '../../../http/paged-rows'
import { containing, type Page } from '../../../http/paging'

/** Picks the names of the objects that a change concerns. */
const namesOf = ({ concerned }: OperatorRow, names: ObjectNames) =>
  Object.fromEntries(
    concerned.flatMap((id) => (names[id] === undefined ? [] : [[id, names[id]] as const])),
  )

const toChange = (row: OperatorRow, names: ObjectNames) => ({
  ...toOperatorEntry(row),
  names: namesOf(row, names),
})

export type TrailStore = ReturnType<typeof createTrailStore>

/** The audit log of operators, newest first. */
export const createTrailStore = (db: Kysely<Schema>) => ({
  async list(page: Page, filter: TrailFilter) {
    const query = narrowTrail(db, filter)
    const { items, pagination } = await queryPage(db, query, { page, column: 'audit_trail.id' })
    const names = await findObjectNames(
      db,
      items.flatMap(({ concerned }) => concerned),
    )
    return { changes: items.map((row) => toChange(row, names)), pagination }
  },
  /** Yields the entries as lines of JSON, oldest first. */
  lines: (filter: TrailFilter) =>
    readByKey((after, limit) =>
      narrowTrail(db, filter)
        .where('audit_trail.id', '>', after)
        .orderBy('audit_trail.id')
        .limit(limit)
        .execute()
        .then((rows) => rows.map(toExportedOperatorEntry)),
    ),
})

function narrowTrail(db: Kysely<Schema>, filter: TrailFilter) {
  const { actor, object_kind: kind, object_id: id, from, to, search } = filter
  let query = selectOperatorRows(db)
  if (actor === operatorKey) query = query.where('actor_id', 'is', null)
  else if (actor !== undefined) query = query.where('actor_id', '=', actor)
  if (kind !== undefined) query = query.where('object_kind', '=', kind)
  if (id !== undefined) query = query.where(sql<boolean>`concerned @> array[${id}]::text[]`)
  if (from) query = query.where('audit_trail.created_at', '>=', from)
  if (to) query = query.where('audit_trail.created_at', '<', to)
  return search === undefined ? query : query.where(holds(search))
}

/** Searches route, body, objects and client of recorded changes, and the operator's e-mail address. */
function holds(search: string) {
  const like = containing(search)
  return sql<boolean>`(
    method || ' ' || route ilike ${like} or sent::text ilike ${like} or request_id ilike ${like}
    or client_address ilike ${like} or array_to_string(concerned, ' ') ilike ${like}
    or email ilike ${like}
  )`
}
