import { sql, type Kysely, type Selectable } from 'kysely'
import { formatBudgetText } from './alert-text'
import {
  isUnnotified,
  notifyOfBudget,
  notifyReached,
  toBudgetFigures,
  toNotifiedColumns,
  type ReachedPercent,
} from './reached-percent'
import { readBudgetUse } from '../ledger/budget-use'
import { queueEvent } from '../notifications/events'
import { ofOrganization } from '../platform/db/account-row'
import type { OrganizationBudgetRow } from '../platform/db/budget-schema'
import type { Schema } from '../platform/db/schema'

/** A budget that notifies, with what its notifications name. */
type WatchedBudget = Selectable<OrganizationBudgetRow> & {
  organization_name: string
  member_name: string | null
}

/**
 * Notifies the managers of the organizations of some accounts, and the members that budgets are of, as `notifyBudgetPercents`
 * notifies accounts of their own. Resolves with how many budgets were notified of. Source: contract 7.4.
 */
export async function notifyOrganizationPercents(
  db: Kysely<Schema>,
  userIds: readonly string[],
  nowMs: number,
): Promise<number> {
  const budgets = await findWatchedBudgets(db, userIds)
  const uses = await readBudgetUse(db, budgets, nowMs)
  return notifyReached(budgets, uses, (budget, reached) => recordPercent(db, budget, reached))
}

const findWatchedBudgets = (
  db: Kysely<Schema>,
  userIds: readonly string[],
): Promise<WatchedBudget[]> =>
  db
    .selectFrom('organization_budget')
    .innerJoin('organization', 'organization.id', 'organization_budget.organization_id')
    .leftJoin('users', 'users.id', 'organization_budget.member_id')
    .selectAll('organization_budget')
    .select(['organization.name as organization_name', 'users.display_name as member_name'])
    .where(sql<boolean>`organization_budget.notify_percents <> '{}'`)
    .where('organization_budget.organization_id', 'in', (query) =>
      query.selectFrom('membership').select('organization_id').where('user_id', 'in', userIds),
    )
    .orderBy('organization_budget.id')
    .execute()

/** Records the percent of which is notified, with the notifications and their mails: all of them or none. */
const recordPercent = (
  db: Kysely<Schema>,
  budget: WatchedBudget,
  reached: ReachedPercent,
): Promise<boolean> =>
  db.transaction().execute(async (trx) => {
    const { numUpdatedRows } = await trx
      .updateTable('organization_budget')
      .set(toNotifiedColumns(reached))
      .where('id', '=', budget.id)
      .where('organization_id', '=', budget.organization_id)
      .where(isUnnotified(budget, reached))
      .executeTakeFirst()
    if (numUpdatedRows === 0n) return false
    await notifyRecipients(trx, budget, reached)
    return true
  })

async function notifyRecipients(
  trx: Kysely<Schema>,
  budget: WatchedBudget,
  reached: ReachedPercent,
): Promise<void> {
  const { organization_id, member_id, department, name } = budget
  const figures = {
    budget_id: budget.id,
    key_id: null,
    organization_id,
    member_id,
    department,
    ...toBudgetFigures(budget, reached),
  }
  const text = formatBudgetText({ ...figures, name, subject: toSubject(budget) })
  for (const recipient of await findRecipients(trx, budget))
    await notifyOfBudget(trx, recipient, { ...text, figures })
  await queueEvent(trx, {
    owner: ofOrganization(organization_id),
    type: 'budget.threshold',
    data: { ...text, ...figures, link: `/organizations/${organization_id}` },
  })
}

function toSubject(budget: WatchedBudget): string {
  const { name, organization_name: organization, member_name: member, department } = budget
  const of = `The budget "${name}" of the organization "${organization}"`
  if (member !== null) return `${of} for its member "${member}"`
  return department === null ? of : `${of} for its department "${department}"`
}

/** Finds the active managers of a budget's organization, and the member that it is of. */
async function findRecipients(
  trx: Kysely<Schema>,
  { organization_id: organizationId, member_id: memberId }: WatchedBudget,
) {
  const rows = await trx
    .selectFrom('membership')
    .innerJoin('users', 'users.id', 'membership.user_id')
    .select(['users.id', 'users.email', 'users.email_verified', 'membership.role'])
    .where('membership.organization_id', '=', organizationId)
    .where('membership.status', '=', 'active')
    .where((where) =>
      where.or([
        where('membership.role', 'in', ['owner', 'admin']),
        where('membership.user_id', '=', memberId ?? ''),
      ]),
    )
    .orderBy('users.id')
    .execute()
  return rows.map(({ role, ...row }) => ({
    ...row,
    link: role === 'owner' || role === 'admin' ? `/organizations/${organizationId}` : '/budgets',
  }))
}
