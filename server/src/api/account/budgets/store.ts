import type { Kysely, Selectable, Transaction } from 'kysely'
import { selectBindingBudgets } from './binding-budgets'
import {
  toChangedColumns,
  toNewColumns,
  toNotifiedColumns,
  toStoredAmount,
  type RequestedChange,
} from './columns'
import { maxBudgets, type ChangedBudget, type NewBudget } from './schema'
import { readBudgetStatus, readOrganizationBudgetStatus } from './status'
import { rejectLimitedKey, type Principal } from '../../../auth/principal'
import { ApiError, invalidRequest } from '../../../errors'
import { readBudgetUse } from '../../../ledger/budget-use'
import { lockAccount, requireRow } from '../../../platform/db/account-row'
import type { BudgetRow } from '../../../platform/db/budget-schema'
import { toUsageFilter } from '../../../platform/usage-filter'
import { isId, newId } from '../../../platform/db/id'
import type { Schema } from '../../../platform/db/schema'

interface BudgetPorts {
  db: Kysely<Schema>
  /** Called when budgets of an account were changed. */
  onChanged: (userId: string) => void
}

export type BudgetStore = ReturnType<typeof createBudgetStore>

const changes = 'create, change or delete budgets'

/** The budgets of the calling account and its keys. Unknown and foreign ids reject with `resource_not_found`. */
export function createBudgetStore({ db, onChanged }: BudgetPorts) {
  const show = async (row: Selectable<BudgetRow>) => {
    const [budget] = await readBudgetStatus(db, [row])
    if (!budget) throw new ApiError('resource_not_found')
    return budget
  }
  return {
    async list({ userId }: Principal) {
      const rows = await db
        .selectFrom('budget')
        .selectAll()
        .where('user_id', '=', userId)
        .orderBy('id', 'desc')
        .execute()
      const binding = await selectBindingBudgets(db, userId).execute()
      return {
        budgets: await readBudgetStatus(db, rows),
        organization_budgets: await readOrganizationBudgetStatus(db, binding),
      }
    },
    get: async ({ userId }: Principal, id: string) => show(await findRow(db, userId, id)),
    async create(asker: Principal, budget: NewBudget) {
      rejectLimitedKey(asker, changes)
      const row = await db.transaction().execute((trx) => insert(trx, asker.userId, budget))
      onChanged(asker.userId)
      return show(row)
    },
    async change(asker: Principal, id: string, fields: ChangedBudget) {
      rejectLimitedKey(asker, changes)
      const [use] = await readBudgetUse(db, [await findRow(db, asker.userId, id)], Date.now())
      const row = await db.transaction().execute(async (trx) => {
        await lockAccount(trx, asker.userId)
        const current = await findRow(trx, asker.userId, id, 'locked')
        return change(trx, current, { fields, by: asker.userId, used: use?.used ?? 0n })
      })
      onChanged(asker.userId)
      return show(row)
    },
    async delete(asker: Principal, id: string) {
      rejectLimitedKey(asker, changes)
      const { userId } = asker
      await findRow(db, userId, id)
      await db.deleteFrom('budget').where('id', '=', id).where('user_id', '=', userId).execute()
      onChanged(userId)
      return { success: true as const, message: 'The budget was deleted.' }
    },
  }
}

const findRow = (
  db: Kysely<Schema>,
  userId: string,
  ...[id, lock]: [id: string, lock?: 'locked']
) =>
  requireRow('budget', id, () =>
    db
      .selectFrom('budget')
      .selectAll()
      .where('id', '=', id)
      .where('user_id', '=', userId)
      .$if(lock === 'locked', (query) => query.forUpdate())
      .executeTakeFirst(),
  )

/** The columns that the amount of a budget depends on. */
type Terms = Pick<NewBudget, 'unit' | 'models' | 'providers' | 'tags'>

/** Returns the columns of an amount: those that versions before 0080 know only for what these can count. */
function toAmountColumns(terms: Terms, value: number) {
  const { unit } = terms
  const amount = toStoredAmount(unit, value)
  if (unit === 'tokens' || toUsageFilter(terms))
    return { spend: null, requests: null, unit, amount }
  const isUsd = unit === 'usd'
  return {
    spend: isUsd ? amount : null,
    requests: isUsd ? null : value,
    unit: null,
    amount: null,
  }
}

/** Counts are exact for concurrent requests too: they wait at the row of their account. */
async function insert(trx: Transaction<Schema>, userId: string, budget: NewBudget) {
  await lockAccount(trx, userId)
  const { key_id, amount } = budget
  if (key_id !== null) await checkKey(trx, userId, key_id)
  const { total } = await trx
    .selectFrom('budget')
    .where('user_id', '=', userId)
    .select(({ fn }) => fn.countAll<bigint>().as('total'))
    .executeTakeFirstOrThrow()
  if (total >= maxBudgets) {
    throw invalidRequest(null, 'limit_reached', `An account has at most ${maxBudgets} budgets.`)
  }
  return trx
    .insertInto('budget')
    .values({
      id: newId('budget'),
      user_id: userId,
      key_id,
      ...toAmountColumns(budget, amount),
      ...toNewColumns(budget),
    })
    .returningAll()
    .executeTakeFirstOrThrow()
}

async function checkKey(trx: Transaction<Schema>, userId: string, keyId: string): Promise<void> {
  const row = isId('key', keyId)
    ? await trx
        .selectFrom('api_key')
        .select('id')
        .where('id', '=', keyId)
        .where('user_id', '=', userId)
        .executeTakeFirst()
    : undefined
  if (row) return
  const message = 'key_id: must be the ID of an API key of this account.'
  throw invalidRequest('key_id', 'unknown_value', message)
}

interface Change extends RequestedChange {
  /** The booked use of the budget: nano-dollars, requests or tokens. */
  used: bigint
}

async function change(
  trx: Transaction<Schema>,
  current: Selectable<BudgetRow>,
  { used, ...changeRequest }: Change,
) {
  const { unit, amount, columns } = toChangedColumns(current, changeRequest)
  const notified = { columns, amount: toStoredAmount(unit, amount), used }
  return trx
    .updateTable('budget')
    .set({
      ...columns,
      ...toAmountColumns({ ...current, unit }, amount),
      ...toNotifiedColumns(current, notified),
      updated_at: new Date(),
    })
    .where('id', '=', current.id)
    .where('user_id', '=', current.user_id)
    .returningAll()
    .executeTakeFirstOrThrow()
}
