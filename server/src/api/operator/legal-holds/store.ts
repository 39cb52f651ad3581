import { sql, type Kysely, type Selectable } from 'kysely'
import type { LegalHoldFilter, NewLegalHold } from './schema'
import { operatorKey } from '../../../audit-log/entries'
import { invalidRequest } from '../../../errors'
import { toTimestamp } from '../../../http/fields'
import { queryPage } from '../../../http/paged-rows'
import type { Page } from '../../../http/paging'
import { requireRow } from '../../../platform/db/account-row'
import type { LegalHoldRow } from '../../../platform/db/audit-destination-schema'
import { noteCreated } from '../../../platform/db/background-work'
import { erasureReason } from '../../../platform/db/legal-hold'
import { isId, newId } from '../../../platform/db/id'
import type { Schema } from '../../../platform/db/schema'

type Row = Selectable<LegalHoldRow> & { subject_name: string | null }

const toAnswer = (row: Row) => ({
  id: row.id,
  subject_id: row.subject_id,
  subject_name: row.subject_name,
  reason: row.reason,
  created_by: row.created_by ?? operatorKey,
  created_at: toTimestamp(row.created_at),
  ended_by: row.ended_at && (row.ended_by ?? operatorKey),
  ended_at: row.ended_at && toTimestamp(row.ended_at),
})

const selectHolds = (db: Kysely<Schema>) =>
  db
    .selectFrom('legal_hold')
    .selectAll()
    .select(
      sql<string | null>`coalesce(
        (select email from users where id = subject_id),
        (select name from organization where id = subject_id)
      )`.as('subject_name'),
    )

export type LegalHoldStore = ReturnType<typeof createLegalHoldStore>

/** Legal holds, for operators; `actor` is the account of a session, null for the operator key. */
export function createLegalHoldStore(db: Kysely<Schema>) {
  const get = async (id: string) =>
    toAnswer(
      await requireRow('hold', id, () => selectHolds(db).where('id', '=', id).executeTakeFirst()),
    )
  return {
    async list(page: Page, { subject_id: subjectId, active }: LegalHoldFilter) {
      let query = selectHolds(db)
      if (subjectId !== undefined) query = query.where('subject_id', '=', subjectId)
      if (active !== undefined) query = query.where('ended_at', active ? 'is' : 'is not', null)
      const { items, pagination } = await queryPage(db, query, { page })
      return { holds: items.map(toAnswer), pagination }
    },
    /** Rejects with `invalid_request` for an unknown subject, and for an account that is being deleted. */
    async create(actor: string | null, { subject_id: subjectId, reason }: NewLegalHold) {
      const id = newId('hold')
      await db.transaction().execute(async (trx) => {
        await lockSubject(trx, subjectId)
        noteCreated(id)
        await trx
          .insertInto('legal_hold')
          .values({ id, subject_id: subjectId, reason, created_by: actor })
          .execute()
      })
      return get(id)
    },
    /** Rejects with `resource_not_found` for unknown ids, and with `invalid_request` for a hold that has ended. */
    async end(actor: string | null, id: string) {
      await get(id)
      await db.transaction().execute(async (trx) => {
        const { numUpdatedRows } = await trx
          .updateTable('legal_hold')
          .set({ ended_by: actor, ended_at: sql<Date>`now()` })
          .where('id', '=', id)
          .where('ended_at', 'is', null)
          .executeTakeFirst()
        if (numUpdatedRows > 0n) return
        throw invalidRequest(null, 'wrong_state', 'The legal hold has ended before.')
      })
      return get(id)
    },
  }
}

/** Keeps a subject from being deleted until the end of the transaction. */
async function lockSubject(trx: Kysely<Schema>, id: string): Promise<void> {
  const row = isId('user', id)
    ? await trx
        .selectFrom('users')
        .select('suspended_reason')
        .where('id', '=', id)
        .forNoKeyUpdate()
        .executeTakeFirst()
    : await trx
        .selectFrom('organization')
        .select(sql<null>`null`.as('suspended_reason'))
        .where('id', '=', id)
        .forNoKeyUpdate()
        .executeTakeFirst()
  if (!row) {
    const message = 'subject_id: there is no such account or organization.'
    throw invalidRequest('subject_id', 'unknown_value', message)
  }
  if (row.suspended_reason !== erasureReason) return
  throw invalidRequest('subject_id', 'wrong_state', 'subject_id: the account is being deleted.')
}
