import type { Kysely, Selectable, Transaction } from 'kysely'
import { selectBindingBudgets } from './binding-budgets'
import {
  toChangedColumns,
  toNewColumns,
  toNotifiedColumns,
  toStoredAmount,
  type RequestedChange,
} from './columns'
import type { NewOrganizationBudget } from './organization-schema'
import { maxBudgets, type ChangedBudget } from './schema'
import { readOrganizationBudgetStatus } from './status'
import {
  recordChange,
  type Action,
  type RecordedFields,
} from '../../../audit-log/organization-trail'
import { rejectLimitedKey, type Principal } from '../../../auth/principal'
import { findRole, managers, requireManager, requireRole } from '../../../auth/roles'
import { ApiError, invalidRequest } from '../../../errors'
import { readBudgetUse } from '../../../ledger/budget-use'
import { lockOwner, requireRow } from '../../../platform/db/account-row'
import type { OrganizationBudgetRow } from '../../../platform/db/budget-schema'
import { isId, newId } from '../../../platform/db/id'
import type { Schema } from '../../../platform/db/schema'

interface BudgetPorts {
  db: Kysely<Schema>
  /** Called when a manager has changed budgets of an organization. */
  onChanged: (organizationId: string, userId: string) => void
}

type Row = Selectable<OrganizationBudgetRow>

/** Names a budget, and its organization. */
interface Ids {
  id: string
  budgetId: string
}

export type OrganizationBudgetStore = ReturnType<typeof createOrganizationBudgetStore>

const changes = 'create, change or delete budgets'

/**
 * The budgets of organizations, for their managers; other members that call models read those that bind them. Rejects with
 * `resource_not_found` for all others, and for unknown ids and those of other organizations.
 */
export function createOrganizationBudgetStore({ db, onChanged }: BudgetPorts) {
  const show = async (row: Row) => {
    const [budget] = await readOrganizationBudgetStatus(db, [row])
    if (!budget) throw new ApiError('resource_not_found')
    return budget
  }
  return {
    async list({ userId }: Principal, id: string) {
      const rows = await selectVisible(db, { userId, id, role: await callerRole(db, userId, id) })
      return { budgets: await readOrganizationBudgetStatus(db, rows) }
    },
    async get({ userId }: Principal, { id, budgetId }: Ids) {
      const rows = await selectVisible(db, { userId, id, role: await callerRole(db, userId, id) })
      return show(
        await requireRow('budget', budgetId, async () => rows.find((row) => row.id === budgetId)),
      )
    },
    async create(asker: Principal, id: string, budget: NewOrganizationBudget) {
      rejectLimitedKey(asker, changes)
      await requireManager(db, asker.userId, id)
      const row = await asManager(db, { asker, id }, (trx) => insert(trx, id, budget))
      onChanged(id, asker.userId)
      return show(row)
    },
    async change(asker: Principal, { id, budgetId }: Ids, fields: ChangedBudget) {
      rejectLimitedKey(asker, changes)
      await requireManager(db, asker.userId, id)
      const [use] = await readBudgetUse(db, [await findRow(db, { id, budgetId })], Date.now())
      const row = await asManager(db, { asker, id }, async (trx) =>
        change(trx, await findRow(trx, { id, budgetId }), {
          fields,
          by: asker.userId,
          used: use?.used ?? 0n,
        }),
      )
      onChanged(id, asker.userId)
      return show(row)
    },
    async delete(asker: Principal, ids: Ids) {
      rejectLimitedKey(asker, changes)
      const { id } = ids
      await requireManager(db, asker.userId, id)
      await asManager(db, { asker, id }, async (trx) => remove(trx, await findRow(trx, ids)))
      onChanged(id, asker.userId)
      return { success: true as const, message: 'The budget was deleted.' }
    },
  }
}

type CallerRole = Awaited<ReturnType<typeof callerRole>>

/** Returns the role of a member that calls models. Rejects for viewers and for all other accounts. */
async function callerRole(db: Kysely<Schema>, userId: string, id: string) {
  const role = isId('org', id) ? await findRole(db, userId, id) : undefined
  requireRole(role, ['owner', 'admin', 'developer', 'member'])
  return role
}

interface Reader {
  userId: string
  id: string
  role: CallerRole
}

/** Selects the budgets that a member sees, newest first: managers see all. */
function selectVisible(db: Kysely<Schema>, { userId, id, role }: Reader): Promise<Row[]> {
  if (role === undefined || !managers.includes(role)) {
    return selectBindingBudgets(db, userId)
      .where('organization_budget.organization_id', '=', id)
      .execute()
  }
  return db
    .selectFrom('organization_budget')
    .selectAll()
    .where('organization_id', '=', id)
    .orderBy('id', 'desc')
    .execute()
}

/** Changes something while the organization is locked, by a manager who still is one then. */
const asManager = <Result>(
  db: Kysely<Schema>,
  { asker, id }: { asker: Principal; id: string },
  work: (trx: Transaction<Schema>) => Promise<Result>,
): Promise<Result> =>
  db.transaction().execute(async (trx) => {
    await lockOwner(trx, { user_id: null, organization_id: id })
    await requireManager(trx, asker.userId, id)
    return work(trx)
  })

const findRow = (db: Kysely<Schema>, { id, budgetId }: Ids): Promise<Row> =>
  requireRow('budget', budgetId, () =>
    db
      .selectFrom('organization_budget')
      .selectAll()
      .where('id', '=', budgetId)
      .where('organization_id', '=', id)
      .executeTakeFirst(),
  )

async function insert(
  trx: Transaction<Schema>,
  id: string,
  budget: NewOrganizationBudget,
): Promise<Row> {
  const { member_id, department, unit, amount } = budget
  if (member_id !== null) await checkMember(trx, id, member_id)
  const { total } = await trx
    .selectFrom('organization_budget')
    .where('organization_id', '=', id)
    .select(({ fn }) => fn.countAll<bigint>().as('total'))
    .executeTakeFirstOrThrow()
  if (total >= maxBudgets) {
    const message = `An organization has at most ${maxBudgets} budgets.`
    throw invalidRequest(null, 'limit_reached', message)
  }
  const row = await trx
    .insertInto('organization_budget')
    .values({
      id: newId('budget'),
      organization_id: id,
      member_id,
      department,
      unit,
      amount: toStoredAmount(unit, amount),
      ...toNewColumns(budget),
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  await record(trx, 'budget.created', { after: row })
  return row
}

async function checkMember(trx: Transaction<Schema>, id: string, userId: string): Promise<void> {
  const row = await trx
    .selectFrom('membership')
    .select('user_id')
    .where('organization_id', '=', id)
    .where('user_id', '=', userId)
    .where('status', '<>', 'pending')
    // Its end deletes the budget, and waits until that is there.
    .forKeyShare()
    .executeTakeFirst()
  if (row) return
  const message = 'member_id: must be the ID of the account of a member of this organization.'
  throw invalidRequest('member_id', 'unknown_value', message)
}

interface Change extends RequestedChange {
  /** The booked use of the budget: nano-dollars, requests or tokens. */
  used: bigint
}

async function change(trx: Transaction<Schema>, current: Row, { used, ...changeRequest }: Change) {
  const { unit, amount: value, columns } = toChangedColumns(current, changeRequest)
  const amount = toStoredAmount(unit, value)
  const row = await trx
    .updateTable('organization_budget')
    .set({
      ...columns,
      amount,
      ...toNotifiedColumns(current, { columns, amount, used }),
      updated_at: new Date(),
    })
    .where('id', '=', current.id)
    .where('organization_id', '=', current.organization_id)
    .returningAll()
    .executeTakeFirstOrThrow()
  await record(trx, 'budget.changed', { before: current, after: row })
  return row
}

async function remove(trx: Transaction<Schema>, row: Row): Promise<void> {
  await trx
    .deleteFrom('organization_budget')
    .where('id', '=', row.id)
    .where('organization_id', '=', row.organization_id)
    .execute()
  await record(trx, 'budget.deleted', { before: row })
}

/** A bigint is money in the audit log. */
const toRecordedAmount = (unit: Row['unit'], amount: bigint | null) =>
  unit === 'usd' || amount === null ? amount : Number(amount)

const toRecordedFields = (row: Row): RecordedFields => ({
  name: row.name,
  member_id: row.member_id,
  department: row.department,
  unit: row.unit,
  amount: toRecordedAmount(row.unit, row.amount),
  override_amount: toRecordedAmount(row.unit, row.override_amount),
  override_from: row.override_from?.toISOString() ?? null,
  override_until: row.override_until?.toISOString() ?? null,
  models: row.models,
  providers: row.providers,
  tags: row.tags,
  window: row.window_unit,
  time_zone: row.time_zone,
  first_weekday: row.first_weekday,
  enforcement: row.enforcement,
  notify_percents: row.notify_percents,
})

async function record(
  trx: Transaction<Schema>,
  action: Action,
  { before, after }: { before?: Row; after?: Row },
): Promise<void> {
  const row = after ?? before
  if (!row) return
  await recordChange(trx, {
    organizationId: row.organization_id,
    action,
    objectId: row.id,
    objectName: row.name,
    ...(before && { before: toRecordedFields(before) }),
    ...(after && { after: toRecordedFields(after) }),
  })
}
