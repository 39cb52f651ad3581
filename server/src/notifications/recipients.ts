import type { Kysely } from 'kysely'
import type { Owner } from '../platform/db/account-row'
import type { Schema } from '../platform/db/schema'

/** An account that is notified. */
interface Recipient {
  id: string
  email: string
  email_verified: boolean
}

/** Finds the accounts that are notified for an owner: the account itself, or owner and admins of an organization. */
export const findRecipients = (
  db: Kysely<Schema>,
  { user_id: userId, organization_id: organizationId }: Owner,
): Promise<Recipient[]> =>
  organizationId === null
    ? db
        .selectFrom('users')
        .select(['id', 'email', 'email_verified'])
        .where('id', '=', userId)
        .execute()
    : db
        .selectFrom('membership')
        .innerJoin('users', 'users.id', 'membership.user_id')
        .select(['users.id', 'users.email', 'users.email_verified'])
        .where('membership.organization_id', '=', organizationId)
        .where('membership.status', '=', 'active')
        .where('membership.role', 'in', ['owner', 'admin'])
        .execute()
