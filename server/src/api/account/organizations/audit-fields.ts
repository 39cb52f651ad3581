import { sql, type Kysely, type Transaction } from 'kysely'
import type { Schema } from '../../../platform/db/schema'
import { ApiError } from '../../../errors'
import {
  recordChange,
  type Action,
  type RecordedFields,
} from '../../../audit-log/organization-trail'

/** The settings of an organization in its audit log, including those that only operators set. */
export async function toRecordedOrganization(
  trx: Transaction<Schema>,
  id: string,
): Promise<RecordedFields> {
  const row = await trx
    .selectFrom('organization')
    .innerJoin('public_name', 'public_name.organization_id', 'organization.id')
    .selectAll('organization')
    .select([
      'public_name.name as slug',
      sql<boolean>`(
        select payment_method_required from credit_account where id = organization.id
      )`.as('payment_method_required'),
    ])
    .where('organization.id', '=', id)
    .executeTakeFirstOrThrow(() => new ApiError('resource_not_found'))
  return {
    name: row.name,
    slug: row.slug,
    description: row.description,
    website: row.website,
    is_public: row.is_public,
    provider_kind: row.provider_kind,
    allow_join_requests: row.allow_join_requests,
    auto_approve_requests: row.auto_approve_requests,
    auto_approve_domains: row.auto_approve_domains,
    rate_limit_requests_per_minute: row.requests_per_minute,
    rate_limit_tokens_per_minute: row.tokens_per_minute,
    rate_limit_images_per_minute: row.images_per_minute,
    rate_limit_audio_seconds_per_minute: row.audio_seconds_per_minute,
    max_concurrent_requests: row.max_concurrent_requests,
    monthly_spend_limit: row.monthly_spend_limit,
    default_member_spending_limit: row.default_member_spending_limit,
    billing_email: row.billing_email,
    audit_retention_months: row.audit_retention_months,
    status: row.status,
    plan_id: row.plan_id,
    member_limit: row.member_limit,
    payment_method_required: row.payment_method_required,
  }
}

interface States {
  id: string
  before?: RecordedFields
  after?: RecordedFields
}

export async function recordOrganization(
  trx: Transaction<Schema>,
  action: Action,
  { id, ...states }: States,
): Promise<void> {
  const { name } = { ...states.before, ...states.after }
  const objectName = typeof name === 'string' ? name : null
  await recordChange(trx, { organizationId: id, action, objectId: id, objectName, ...states })
}

/**
 * Changes settings while the organization is locked, and records the change. Rejects with `resource_not_found`
 * where the organization was deleted.
 */
export const recordedOrganization = (
  db: Kysely<Schema>,
  id: string,
  work: (trx: Transaction<Schema>) => Promise<void>,
): Promise<void> =>
  db.transaction().execute(async (trx) => {
    await trx
      .selectFrom('organization')
      .select('id')
      .where('id', '=', id)
      .forNoKeyUpdate()
      .execute()
    const before = await toRecordedOrganization(trx, id)
    await work(trx)
    const after = await toRecordedOrganization(trx, id)
    await recordOrganization(trx, 'organization.changed', { id, before, after })
  })

/** A stored member, with its e-mail address. */
interface MemberRow {
  organization_id: string
  user_id: string
  email: string
  role: string
  status: string
  department: string | null
  spending_limit: bigint | null
}

export const memberAuditFields = ({
  role,
  status,
  department,
  spending_limit,
}: MemberRow): RecordedFields => ({
  role,
  status,
  department,
  spending_limit,
})

interface MemberStates {
  before?: RecordedFields
  after?: RecordedFields
}

export const recordMember = (
  trx: Transaction<Schema>,
  action: Action,
  {
    row,
    ...states
  }: MemberStates & { row: Pick<MemberRow, 'organization_id' | 'user_id' | 'email'> },
) =>
  recordChange(trx, {
    organizationId: row.organization_id,
    action,
    objectId: row.user_id,
    objectName: row.email,
    ...states,
  })

/** An invitation as it is stored or shown. */
interface InvitationRow {
  id: string
  organization_id: string
  email: string
  role: string
  status: string
  expires_at: Date | string
}

const invitationAuditFields = ({ role, status, expires_at }: InvitationRow): RecordedFields => ({
  role,
  status,
  expires_at,
})

/** Records a change of an invitation; `before` is its earlier state, if it existed. */
export const recordInvitation = (
  trx: Transaction<Schema>,
  action: Action,
  { before, after }: { before?: InvitationRow; after: InvitationRow },
) =>
  recordChange(trx, {
    organizationId: after.organization_id,
    action,
    objectId: after.id,
    objectName: after.email,
    ...(before && { before: invitationAuditFields(before) }),
    after: invitationAuditFields(after),
  })
