import { sql, type Kysely, type Selectable } from 'kysely'
import { toPublicLimit, toStoredLimit } from './limit-values'
import type { Decision, QuotaRequest } from './schema'
import { isId } from '../../../platform/db/id'
import type { Schema } from '../../../platform/db/schema'
import type { QuotaRequestRow } from '../../../platform/db/support-schema'
import { ApiError, invalidRequest } from '../../../errors'
import { toTimestamp } from '../../../http/fields'
import { toStoredOverrides } from '../../../http/limits'
import { queryPage } from '../../../http/paged-rows'
import { containing, type Page } from '../../../http/paging'
import { notify } from '../../../notifications/notify'
import { postMail } from '../../../platform/mail/outbox'

type Row = Selectable<QuotaRequestRow>

export const toQuotaRequest = (row: Row): QuotaRequest => ({
  id: row.id,
  quota_type: row.quota_type,
  current_limit: toPublicLimit(row.quota_type, row.current_limit),
  requested_limit: toPublicLimit(row.quota_type, row.requested_limit),
  reason: row.reason,
  status: row.status,
  decision_note: row.decision_note,
  decided_at: row.decided_at && toTimestamp(row.decided_at),
  created_at: toTimestamp(row.created_at),
})

const toDecided = (row: Row & { email: string }) => ({
  ...toQuotaRequest(row),
  user_id: row.user_id,
  email: row.email,
  granted_limit:
    row.granted_limit === null ? null : toPublicLimit(row.quota_type, row.granted_limit),
})

export interface RequestFilter {
  status?: 'pending' | 'approved' | 'rejected' | undefined
  search?: string | undefined
}

export type QuotaRequestStore = ReturnType<typeof createQuotaRequestStore>

/**
 * Requests for higher limits, for operators. Unknown ids reject with `resource_not_found`, decided ones with
 * `wrong_state`.
 */
export const createQuotaRequestStore = (db: Kysely<Schema>) => ({
  list: (page: Page, filter: RequestFilter) => listRequests(db, page, filter),
  /** Overrides the one limit for the account; the other nodes receive a notification. */
  approve: (id: string, { limit, note }: Decision) =>
    decide(db, id, async (trx, row) => {
      const granted =
        typeof limit === 'number'
          ? toStoredLimit(row.quota_type, limit, 'limit')
          : row.requested_limit
      await override(trx, row, granted)
      return { status: 'approved', granted_limit: granted, decision_note: note ?? null }
    }),
  reject: (id: string, note: string | null) =>
    decide(db, id, () =>
      Promise.resolve({ status: 'rejected', granted_limit: null, decision_note: note }),
    ),
})

type Decided = Pick<Row, 'status' | 'granted_limit' | 'decision_note'>
type Deciding = (trx: Kysely<Schema>, row: Row) => Promise<Decided>

async function decide(db: Kysely<Schema>, id: string, deciding: Deciding) {
  if (!isId('qreq', id)) throw new ApiError('resource_not_found')
  return db.transaction().execute(async (trx) => {
    const before = await trx
      .selectFrom('quota_request')
      .selectAll()
      .where('id', '=', id)
      .forUpdate()
      .executeTakeFirst()
    if (!before) throw new ApiError('resource_not_found')
    if (before.status !== 'pending') {
      throw invalidRequest(null, 'wrong_state', `The request was already ${before.status}.`)
    }
    const row = await trx
      .updateTable('quota_request')
      .set({ ...(await deciding(trx, before)), decided_at: new Date() })
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow()
    const { email } = await trx
      .selectFrom('users')
      .select('email')
      .where('id', '=', row.user_id)
      .executeTakeFirstOrThrow()
    const decided = { ...row, email }
    await notifyDecision(trx, decided)
    return toDecided(decided)
  })
}

/** Keeps the other overrides of the account. */
async function override(trx: Kysely<Schema>, { user_id, quota_type }: Row, granted: bigint) {
  const value = quota_type === 'monthly_spend' ? granted : Number(granted)
  await trx
    .updateTable('users')
    .set({
      limits: sql<string>`limits || ${toStoredOverrides({ [quota_type]: value })}::jsonb`,
      updated_at: new Date(),
    })
    .where('id', '=', user_id)
    .execute()
}

async function notifyDecision(trx: Kysely<Schema>, row: Row & { email: string }): Promise<void> {
  const quotaName = row.quota_type.replaceAll('_', ' ')
  const unit = row.quota_type === 'monthly_spend' ? ' USD' : ''
  const granted = row.granted_limit ?? row.current_limit
  const outcome =
    row.status === 'approved'
      ? `Your limit of ${quotaName} is ${toPublicLimit(row.quota_type, granted)}${unit} now.`
      : `Your limit of ${quotaName} stays as it is.`
  const title = `Your request for more ${quotaName} was ${row.status}`
  const body = row.decision_note ? `${outcome}\n\n${row.decision_note}` : outcome
  await notify(trx, { userId: row.user_id, kind: 'quota_request', title, body, link: '/quota' })
  await postMail(trx, {
    recipient: row.email,
    subject: title,
    body: `${body}\n`,
    reference: `quota_request:${row.id}`,
  })
}

/** Lists the requests of an account, newest first. */
export async function listOwnRequests(db: Kysely<Schema>, userId: string, page: Page) {
  const own = db.selectFrom('quota_request').selectAll().where('user_id', '=', userId)
  const { items, pagination } = await queryPage(db, own, { page })
  return { quota_requests: items.map(toQuotaRequest), pagination }
}

async function listRequests(db: Kysely<Schema>, page: Page, { status, search }: RequestFilter) {
  const filtered = db
    .selectFrom('quota_request')
    .innerJoin('users', 'users.id', 'quota_request.user_id')
    .selectAll('quota_request')
    .select('users.email')
    .$if(status !== undefined, (query) =>
      query.where('quota_request.status', '=', status ?? 'pending'),
    )
    .$if(search !== undefined, (query) =>
      query.where((is) =>
        is.or([
          is('email', 'ilike', containing(search ?? '')),
          is('reason', 'ilike', containing(search ?? '')),
        ]),
      ),
    )
  const { items, pagination } = await queryPage(db, filtered, { page, column: 'quota_request.id' })
  return { quota_requests: items.map(toDecided), pagination }
}
