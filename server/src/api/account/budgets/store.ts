import { sql, type Kysely, type Selectable, type Transaction } from 'kysely'
import {
  findBudgetConflict,
  maxBudgets,
  weekdays,
  type ChangedBudget,
  type NewBudget,
} from './schema'
import { readBudgetStatus } from './status'
import { rejectLimitedKey, type Principal } from '../../../auth/principal'
import { ApiError, invalidRequest } from '../../../errors'
import { readBudgetUse, toBudgetAmount } from '../../../ledger/budget-use'
import { lockAccount, requireRow } from '../../../platform/db/account-row'
import type { BudgetRow } from '../../../platform/db/budget-schema'
import { toUsageFilter } from '../../../platform/usage-filter'
import { isId, newId } from '../../../platform/db/id'
import type { Schema } from '../../../platform/db/schema'
import { toUsd } from '../../../wire/usd'

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
      return { budgets: await readBudgetStatus(db, rows) }
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
        return change(trx, current, { fields, used: use?.used ?? 0n })
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
  const amount = unit === 'usd' ? BigInt(Math.round(value * 1e9)) : BigInt(value)
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

const toWeekdayNumber = (name: NewBudget['first_weekday']) => weekdays.indexOf(name) + 1

/** Counts are exact for concurrent requests too: they wait at the row of their account. */
async function insert(trx: Transaction<Schema>, userId: string, budget: NewBudget) {
  await lockAccount(trx, userId)
  const { key_id, name, amount, window, time_zone, first_weekday } = budget
  const { enforcement, notify_percents, models, providers, tags } = budget
  if (key_id !== null) await checkKey(trx, userId, key_id)
  const { total } = await trx
    .selectFrom('budget')
    .where('user_id', '=', userId)
    .select(({ fn }) => fn.countAll<bigint>().as('total'))
    .executeTakeFirstOrThrow()
  if (total >= maxBudgets) {
    throw invalidRequest(null, 'limit_reached', `An account has at most ${maxBudgets} budgets.`)
  }
  const now = new Date()
  return trx
    .insertInto('budget')
    .values({
      id: newId('budget'),
      user_id: userId,
      key_id,
      name,
      ...toAmountColumns(budget, amount),
      models,
      providers,
      tags,
      window_unit: window,
      time_zone,
      first_weekday: toWeekdayNumber(first_weekday),
      enforcement,
      notify_percents,
      created_at: now,
      updated_at: now,
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

interface Change {
  fields: ChangedBudget
  /** The booked use of the budget: nano-dollars, requests or tokens. */
  used: bigint
}

async function change(
  trx: Transaction<Schema>,
  current: Selectable<BudgetRow>,
  { fields, used }: Change,
) {
  const columns = toChangedColumns(current, fields)
  return trx
    .updateTable('budget')
    .set({ ...columns, ...toNotifiedColumns(current, columns, used), updated_at: new Date() })
    .where('id', '=', current.id)
    .where('user_id', '=', current.user_id)
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** Returns the columns of a budget after a change. Throws `invalid_request` where its fields conflict. */
function toChangedColumns(current: Selectable<BudgetRow>, fields: ChangedBudget) {
  const terms = toBudgetAmount(current)
  const { unit } = terms
  const currentAmount = unit === 'usd' ? toUsd(terms.amount) : Number(terms.amount)
  const { amount = currentAmount, window = current.window_unit, first_weekday: weekday } = fields
  const { enforcement = current.enforcement, notify_percents = current.notify_percents } = fields
  const conflict = findBudgetConflict({ unit, amount, window, enforcement, notify_percents })
  if (conflict) {
    const field = String(conflict.path[0])
    throw invalidRequest(field, conflict.params.issue, `${field}: ${conflict.message}`)
  }
  return {
    name: fields.name ?? current.name,
    ...toAmountColumns({ ...current, unit }, amount),
    window_unit: window,
    time_zone: fields.time_zone ?? current.time_zone,
    first_weekday: weekday ? toWeekdayNumber(weekday) : current.first_weekday,
    enforcement,
    notify_percents,
  }
}

type ChangedColumns = ReturnType<typeof toChangedColumns>

/**
 * Returns the columns of what was notified: nothing in other windows, and of another amount the percents that its use
 * has reached, so that the others are notified again.
 */
function toNotifiedColumns(current: Selectable<BudgetRow>, changed: ChangedColumns, used: bigint) {
  const isSameWindow = (['window_unit', 'time_zone', 'first_weekday'] as const).every(
    (name) => current[name] === changed[name],
  )
  if (!isSameWindow) return { notified_window: null, notified_percent: null }
  const { amount } = toBudgetAmount(changed)
  if (amount === toBudgetAmount(current).amount) return {}
  const reached = amount === 0n ? Infinity : Number((used * 100n) / amount)
  if (reached >= (current.notified_percent ?? 0)) return {}
  // An evaluation may have recorded a percent since.
  return { notified_percent: sql<number>`least(notified_percent, ${reached})` }
}
