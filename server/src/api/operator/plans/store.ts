import type { Kysely, Selectable } from 'kysely'
import type { ChangedPlan, NewPlan } from './schema'
import { isId, newId } from '../../../platform/db/id'
import type { PlanRow, Schema } from '../../../platform/db/schema'
import { isReferred, isUniqueViolation } from '../../../platform/db/violation'
import { noteCreated } from '../../../platform/db/background-work'
import { ApiError, invalidRequest } from '../../../errors'
import { present, toTimestamp } from '../../../http/fields'
import { toUsdOrNull } from '../../../wire/usd'
import { queryPage } from '../../../http/paged-rows'
import { containing, type Page } from '../../../http/paging'

const toPlan = (row: Selectable<PlanRow>) => ({
  id: row.id,
  name: row.name,
  requests_per_minute: row.requests_per_minute,
  tokens_per_minute: row.tokens_per_minute,
  images_per_minute: row.images_per_minute,
  audio_seconds_per_minute: row.audio_seconds_per_minute,
  concurrent_requests: row.max_concurrent_requests,
  monthly_requests: row.monthly_requests,
  monthly_spend: toUsdOrNull(row.monthly_spend),
  max_org_members: row.max_org_members,
  is_default: row.is_default,
  house_pays: row.house_pays,
  created_at: toTimestamp(row.created_at),
  updated_at: toTimestamp(row.updated_at),
})

const toColumns = ({ concurrent_requests, ...fields }: ChangedPlan) =>
  present({ ...fields, max_concurrent_requests: concurrent_requests })

const rejectTakenName = (thrown: unknown) => {
  if (!isUniqueViolation(thrown)) throw thrown
  throw invalidRequest('name', 'taken', 'name: a plan with this name already exists.')
}

const wrongState = (message: string) => invalidRequest(null, 'wrong_state', message)

const inUse = () => wrongState('The plan is in use, or is the default plan.')

function checkId(id: string): void {
  if (!isId('plan', id)) throw new ApiError('resource_not_found')
}

export type PlanStore = ReturnType<typeof createPlanStore>

/** Plans, for operators. Unknown ids reject with `resource_not_found`. */
export const createPlanStore = (db: Kysely<Schema>) => ({
  list: (page: Page, search: string | undefined) => listPlans(db, page, search),
  create: (fields: NewPlan) =>
    db.transaction().execute(async (trx) => {
      if (fields.is_default) await dropDefault(trx)
      const id = newId('plan')
      noteCreated(id)
      const row = await trx
        .insertInto('plan')
        .values({ id, ...toColumns(fields), name: fields.name })
        .returningAll()
        .executeTakeFirstOrThrow()
        .catch(rejectTakenName)
      return toPlan(row)
    }),
  change: (id: string, fields: ChangedPlan) => changePlan(db, id, fields),
  delete: (id: string) => deletePlan(db, id),
})

/** One plan is always the default: an operator makes another plan the default, never removes the flag. */
const dropDefault = (trx: Kysely<Schema>) =>
  trx.updateTable('plan').set({ is_default: false }).where('is_default', '=', true).execute()

async function changePlan(db: Kysely<Schema>, id: string, fields: ChangedPlan) {
  checkId(id)
  return db.transaction().execute(async (trx) => {
    const before = await trx
      .selectFrom('plan')
      .select('is_default')
      .where('id', '=', id)
      .forUpdate()
      .executeTakeFirst()
    if (!before) throw new ApiError('resource_not_found')
    if (before.is_default && fields.is_default === false) {
      throw wrongState('This is the default plan. Make another plan the default instead.')
    }
    if (fields.is_default) await dropDefault(trx)
    const row = await trx
      .updateTable('plan')
      .set({ ...toColumns(fields), updated_at: new Date() })
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow()
      .catch(rejectTakenName)
    return toPlan(row)
  })
}

async function deletePlan(db: Kysely<Schema>, id: string) {
  checkId(id)
  const deleted = await db
    .deleteFrom('plan')
    .where('id', '=', id)
    .where('is_default', '=', false)
    .where((is) => is.not(is.exists(is.selectFrom('users').select('id').where('plan_id', '=', id))))
    .returning('id')
    .executeTakeFirst()
    // A concurrent request may assign the plan to an account.
    .catch((thrown: unknown) => {
      if (isReferred(thrown)) throw inUse()
      throw thrown
    })
  if (deleted) return { success: true as const, message: 'The plan was deleted.' }
  const existingPlan = await db
    .selectFrom('plan')
    .select('id')
    .where('id', '=', id)
    .executeTakeFirst()
  if (!existingPlan) throw new ApiError('resource_not_found')
  throw inUse()
}

async function listPlans(db: Kysely<Schema>, page: Page, search: string | undefined) {
  const filtered = db
    .selectFrom('plan')
    .$if(search !== undefined, (query) => query.where('name', 'ilike', containing(search ?? '')))
  const { items, pagination } = await queryPage(db, filtered.selectAll(), { page })
  return { plans: items.map(toPlan), pagination }
}
