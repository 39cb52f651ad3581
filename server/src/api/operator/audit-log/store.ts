import { sql, type Kysely, type Selectable } from 'kysely'
import { findObjectNames, type ObjectNames } from './object-names'
import type { TrailFilter } from './schema'
import type { Schema } from '../../../platform/db/schema'
import type { AuditTrailRow } from '../../../platform/db/trail-schema'
import { toTimestamp } from '../../../http/fields'
import { queryPage } from '../../../http/paged-rows'
import { containing, type Page } from '../../../http/paging'

/** Stands for the account in changes made with the operator key. */
const operatorKey = 'operator_key'

/** A deleted account has no address. */
type Row = Selectable<AuditTrailRow> & { email: string | null }

/** Picks the names of the objects that a change concerns. */
const namesOf = ({ concerned }: Row, names: ObjectNames) =>
  Object.fromEntries(
    concerned.flatMap((id) => (names[id] === undefined ? [] : [[id, names[id]] as const])),
  )

const toChange = (row: Row, names: ObjectNames) => ({
  id: row.id,
  actor: row.actor_id ?? operatorKey,
  actor_email: row.email,
  method: row.method,
  route: row.route,
  object_kind: row.object_kind,
  object_id: row.object_id,
  concerned: row.concerned,
  names: namesOf(row, names),
  sent: row.sent,
  request_id: row.request_id,
  client_address: row.client_address,
  created_at: toTimestamp(row.created_at),
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
})

function narrowTrail(db: Kysely<Schema>, filter: TrailFilter) {
  const { actor, object_kind: kind, object_id: id, from, to, search } = filter
  let query = db
    .selectFrom('audit_trail')
    .leftJoin('users', 'users.id', 'audit_trail.actor_id')
    .selectAll('audit_trail')
    .select('users.email')
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
