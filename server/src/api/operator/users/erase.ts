import { sql, type Kysely, type Transaction } from 'kysely'
import { lockAccount } from '../../../platform/db/account-row'
import { isId } from '../../../platform/db/id'
import { erasureReason, refuseHeldAccount } from '../../../platform/db/legal-hold'
import type { Schema } from '../../../platform/db/schema'
import { ApiError, invalidRequest } from '../../../errors'
import { refuseLastOperator } from './role-rules'
import { recordChange } from '../../../audit-log/organization-trail'
import { pseudonymizeTrails, pseudonymOf } from '../../../audit-log/pseudonym'

/** Logs may be many: each statement must finish within its timeout. */
const rowsPerStatement = 5000

/** Rejects where an organization would be left without an owner. */
async function refuseOwner(trx: Transaction<Schema>, id: string): Promise<void> {
  const rows = await trx
    .selectFrom('membership')
    .select('organization_id')
    .where('user_id', '=', id)
    .where('role', '=', 'owner')
    .limit(10)
    .execute()
  if (rows.length === 0) return
  const names = rows.map((row) => row.organization_id).join(', ')
  throw invalidRequest(
    null,
    'wrong_state',
    `The account owns ${names}. Transfer or delete them first.`,
  )
}

/** Revokes all access: sessions and keys end on every node. Rejects with `resource_not_found`. */
async function shut(trx: Transaction<Schema>, id: string): Promise<string> {
  await refuseLastOperator(trx, id)
  const { email } = await lockAccount(trx, id)
  await refuseOwner(trx, id)
  await refuseHeldAccount(trx, id)
  await trx
    .updateTable('users')
    .set({ status: 'suspended', suspended_reason: erasureReason })
    .where('id', '=', id)
    .execute()
  await trx.deleteFrom('api_key').where('user_id', '=', id).execute()
  await trx.deleteFrom('connection').where('user_id', '=', id).execute()
  await sql`delete from auth_session where user_id = ${id}`.execute(trx)
  return email
}

const logTables = [
  'request_body',
  'logged_bytes',
  'request_log',
  'request_minute',
  'request_peak',
  'request_sum',
  'request_tag_sum',
  'request_tag_set',
  'usage_tag_sum',
]

/** Deletes the rows of requests in batches. */
async function deleteRequests(db: Kysely<Schema>, id: string): Promise<void> {
  for (const name of logTables) {
    const table = sql.table(name)
    let deleted = rowsPerStatement
    while (deleted === rowsPerStatement) {
      const { rows } = await sql<{ deleted: number }>`
        with gone as (
          delete from ${table} where (tableoid, ctid) in (
            select tableoid, ctid from ${table} where user_id = ${id} limit ${rowsPerStatement}
          ) returning 1
        )
        select count(*)::integer as deleted from gone`.execute(db)
      deleted = rows[0]?.deleted ?? 0
    }
  }
}

/** Deletes the user with all rows that refer to it, and rows stored by e-mail address. */
async function deleteUser(trx: Transaction<Schema>, id: string, email: string): Promise<void> {
  await lockAccount(trx, id)
  // The account may have become an owner since.
  await refuseOwner(trx, id)
  await sql`delete from mail where recipient = ${email}`.execute(trx)
  await sql`
    delete from mail where reference in (
      select 'invoice ' || invoice.id from invoice where account_id = ${id}
    )`.execute(trx)
  await sql`delete from invitation where email = lower(${email})`.execute(trx)
  await sql`
    delete from auth_verification
    where identifier = ${email} or position(${email} in value) > 0 or position(${id} in value) > 0
  `.execute(trx)
  await leaveAll(trx, id)
  await trx.deleteFrom('company').where('account_id', '=', id).execute()
  await trx
    .updateTable('invoice')
    .set({ buyer: JSON.stringify(toErasedBuyer(id)) })
    .where('account_id', '=', id)
    .execute()
  // Where logs are exported, the export deletes them in its store.
  await sql`
    insert into log_erasure (user_id) select ${id} where exists (select from log_export)
    on conflict do nothing`.execute(trx)
  await trx.deleteFrom('users').where('id', '=', id).execute()
}

/** Stands on the invoices of an erased account. */
const toErasedBuyer = (id: string) => ({
  name: pseudonymOf(id),
  address: [],
  country: null,
  tax_id: null,
  email: null,
  purchase_order: null,
})

/** Ends the user's memberships, which go with its row, and notifies the organizations. */
async function leaveAll(trx: Transaction<Schema>, id: string): Promise<void> {
  const memberships = await trx
    .deleteFrom('membership')
    .where('user_id', '=', id)
    .returning(['organization_id', 'role', 'status', 'department', 'spending_limit'])
    .execute()
  for (const { organization_id: organizationId, ...before } of memberships) {
    await recordChange(trx, {
      organizationId,
      action: 'member.removed',
      objectId: id,
      objectName: pseudonymOf(id),
      before,
    })
  }
}

/**
 * Erases an account. Its payments and usage stay in the ledger under its id, which no longer identifies a person.
 * After a failure the account stays suspended without keys, and a repeat continues. Rejects with
 * `resource_not_found`, and with `invalid_request` for the owner of an organization and the last operator.
 */
export async function eraseUser(db: Kysely<Schema>, id: string) {
  if (!isId('user', id)) throw new ApiError('resource_not_found')
  const email = await db.transaction().execute((trx) => shut(trx, id))
  await deleteRequests(db, id)
  await pseudonymizeTrails(db, id, email)
  await db.transaction().execute((trx) => deleteUser(trx, id, email))
  // A request that was just ending may have been logged meanwhile, and a manager may have changed the member.
  await deleteRequests(db, id)
  await pseudonymizeTrails(db, id, email)
  return { success: true as const, message: 'The account was erased.' }
}
