import { sql, type Kysely } from 'kysely'
import type { Schema } from './schema'
import { invalidRequest } from '../../errors'

/** The reason why an account is suspended while it is erased. */
export const erasureReason = 'The account is being erased.'

/** The accounts and organizations that are on hold. */
export const heldIds = sql`(select subject_id from legal_hold where ended_at is null)`

/** Whether a row of `request_log` is kept by a hold: on its account, or on the organization that it concerns or that paid. */
export const isHeldLog = sql`(
  user_id in ${heldIds} or coalesce(organization_id, '') in ${heldIds}
  or coalesce(account_id, '') in ${heldIds}
)`

/** Whether a row of `request_body` is kept by a hold, as the log of its request is. */
export const isHeldBody = sql`(
  user_id in ${heldIds} or exists (
    select from request_log
    where request_log.id = request_body.id and request_log.started_at = request_body.started_at
      and (
        coalesce(request_log.organization_id, '') in ${heldIds}
        or coalesce(request_log.account_id, '') in ${heldIds}
      )
  )
)`

/** Lists the accounts and organizations that are on hold. */
export async function listHeldIds(db: Kysely<Schema>): Promise<string[]> {
  const rows = await db
    .selectFrom('legal_hold')
    .select('subject_id')
    .distinct()
    .where('ended_at', 'is', null)
    .orderBy('subject_id')
    .execute()
  return rows.map((row) => row.subject_id)
}

/** Rejects with `invalid_request` while an account is on hold, or an organization that has logs or an audit log of it. */
export async function refuseHeldAccount(trx: Kysely<Schema>, userId: string): Promise<void> {
  const { rows } = await sql<{ isHeld: boolean }>`
    select exists (
      select from legal_hold as hold where ended_at is null and (
        subject_id = ${userId}
        or exists (
          select from membership
          where user_id = ${userId} and membership.organization_id = hold.subject_id
        )
        or exists (
          select from organization_trail
          where organization_trail.organization_id = hold.subject_id
            and (actor = ${userId} or object_id = ${userId})
        )
        or exists (
          select from request_log
          where user_id = ${userId}
            and hold.subject_id in (request_log.organization_id, request_log.account_id)
        )
      )
    ) as "isHeld"`.execute(trx)
  if (!rows[0]?.isHeld) return
  throw invalidRequest(
    null,
    'legal_hold',
    'The account, or an organization with logs of it, is on legal hold. It can be deleted once an operator has ended the hold.',
  )
}

/** Rejects with `invalid_request` while an organization is on hold. */
export async function refuseHeldOrganization(trx: Kysely<Schema>, id: string): Promise<void> {
  if (!(await listHeldIds(trx)).includes(id)) return
  throw invalidRequest(
    null,
    'legal_hold',
    'The organization is on legal hold. It can be deleted once an operator has ended the hold.',
  )
}
