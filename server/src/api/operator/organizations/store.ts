import { sql, type Kysely, type Transaction } from 'kysely'
import { requireRow } from '../../../platform/db/account-row'
import type { OperatedOrganization } from './schema'
import { recordedOrganization } from '../../account/organizations/audit-fields'
import {
  organizationCounts,
  toVisibleOrganization,
  type VisibleRow,
} from '../../account/organizations/rows'
import { remove, slugTaken, type OrganizationPorts } from '../../account/organizations/store'
import type { Schema } from '../../../platform/db/schema'
import { isReferred, isUniqueViolation } from '../../../platform/db/violation'
import { ApiError, invalidRequest } from '../../../errors'
import { present } from '../../../http/fields'
import { queryPage } from '../../../http/paged-rows'
import { containing, type Page } from '../../../http/paging'
import { checkReserved } from '../../../http/public-name'
import { toUsd } from '../../../wire/usd'

type Row = VisibleRow & { payment_method_required: boolean }

const toOperated = (row: Row) => ({
  ...toVisibleOrganization(row),
  status: row.status,
  plan_id: row.plan_id,
  payment_method_required: row.payment_method_required,
  credit_balance: toUsd(row.posted),
})

const organizations = (db: Kysely<Schema>) =>
  db
    .selectFrom('organization')
    .innerJoin('public_name', 'public_name.organization_id', 'organization.id')
    .innerJoin('plan', 'plan.id', 'organization.plan_id')
    .selectAll('organization')
    .select(organizationCounts)
    .select(
      sql<boolean>`(
        select payment_method_required from credit_account where id = organization.id
      )`.as('payment_method_required'),
    )

export type OperatedOrganizationStore = ReturnType<typeof createOperatedOrganizationStore>

/** Organizations, for operators. Unknown ids reject with `resource_not_found`. Source: contract 9.2. */
export function createOperatedOrganizationStore(ports: OrganizationPorts) {
  const { db, changed } = ports
  const get = async (id: string) => {
    const row = await requireRow('org', id, () =>
      organizations(db).where('organization.id', '=', id).executeTakeFirst(),
    )
    return toOperated(row)
  }
  return {
    get,
    async list(page: Page, search: string | undefined) {
      const query = organizations(db).$if(search !== undefined, (all) =>
        all.where((is) =>
          is.or([
            is('organization.name', 'ilike', containing(search ?? '')),
            is('public_name.name', 'ilike', containing(search ?? '')),
          ]),
        ),
      )
      const { items, pagination } = await queryPage(db, query, { page, column: 'organization.id' })
      return { organizations: items.map(toOperated), pagination }
    },
    async change(id: string, fields: OperatedOrganization) {
      const { slug } = await get(id)
      await update(ports, { id, slug }, fields)
      changed(id)
      return get(id)
    },
    async delete(id: string) {
      await get(id)
      const members = await remove(db, id)
      for (const owner of [id, ...members]) changed(owner)
      return { success: true as const, message: 'The organization was deleted.' }
    },
  }
}

const rejectUnknownPlan = (thrown: unknown) => {
  if (!isReferred(thrown)) throw thrown
  throw invalidRequest('plan_id', 'unknown_value', 'plan_id: the plan does not exist.')
}

interface OrganizationName {
  id: string
  slug: string
}

async function update(
  { db, catalog }: OrganizationPorts,
  organization: OrganizationName,
  fields: OperatedOrganization,
): Promise<void> {
  const {
    slug,
    payment_method_required: isPaymentRequired,
    rate_limit_requests_per_minute: requests_per_minute,
    rate_limit_tokens_per_minute: tokens_per_minute,
    rate_limit_images_per_minute: images_per_minute,
    rate_limit_audio_seconds_per_minute: audio_seconds_per_minute,
    ...columns
  } = fields
  const isRenamed = slug !== undefined && slug !== organization.slug
  if (isRenamed) checkReserved('slug', slug, catalog.snapshot.providers)
  await recordedOrganization(db, organization.id, async (trx) => {
    const row = await trx
      .updateTable('organization')
      .set({
        ...present({
          ...columns,
          requests_per_minute,
          tokens_per_minute,
          images_per_minute,
          audio_seconds_per_minute,
        }),
        updated_at: new Date(),
      })
      .where('id', '=', organization.id)
      .returning('id')
      .executeTakeFirst()
      .catch(rejectUnknownPlan)
    if (!row) throw new ApiError('resource_not_found')
    if (isRenamed) await rename(trx, organization.id, slug)
    if (isPaymentRequired === undefined) return
    // The nodes receive a notification.
    await sql`
      update credit_account set payment_method_required = ${isPaymentRequired}
      where id = ${organization.id} and payment_method_required <> ${isPaymentRequired}`.execute(
      trx,
    )
  })
}

async function rename(trx: Transaction<Schema>, id: string, slug: string): Promise<void> {
  await trx
    .updateTable('public_name')
    .set({ name: slug, updated_at: new Date() })
    .where('organization_id', '=', id)
    .execute()
    .catch((thrown: unknown) => {
      throw isUniqueViolation(thrown) ? slugTaken(slug) : thrown
    })
}
