import type { Kysely } from 'kysely'
import { toOrganizationProfile } from './profiles'
import { ofOrganization, findPublicOrganizations, type PublicRow } from './public-rows'
import type { PublicServed } from './served-models'
import type { Schema } from '../../platform/db/schema'
import { ApiError } from '../../errors'
import { toTimestamp } from '../../http/fields'
import { queryPage } from '../../http/paged-rows'
import type { Page } from '../../http/paging'

const toOrganization = (row: PublicRow) => ({
  id: row.id,
  name: row.name,
  slug: row.slug,
  description: row.description,
  website: row.website,
  member_count: Number(row.members),
  allow_join_requests: row.allow_join_requests,
  created_at: toTimestamp(row.created_at),
})

/** Lists public organizations, without authentication. Source: contract 9.1. */
export const createOrganizationView = (db: Kysely<Schema>, served: PublicServed) => ({
  async list(page: Page, search: string | undefined) {
    const query = findPublicOrganizations(db, search)
    const { items, pagination } = await queryPage(db, query, { page, column: ofOrganization })
    return { organizations: items.map(toOrganization), pagination }
  },
  /** Rejects with `resource_not_found` for private ones too. */
  async get(slug: string) {
    const row = await findPublicOrganizations(db)
      .where('public_name.name', '=', slug)
      .executeTakeFirst()
    if (!row) throw new ApiError('resource_not_found')
    const models = await served.of(row)
    return {
      ...toOrganization(row),
      models: models.map(({ model, mode }) => ({ id: model.id, billing_mode: mode })),
      provider_profile: row.connections > 0n ? toOrganizationProfile(row, models.length) : null,
    }
  },
})

export type OrganizationView = ReturnType<typeof createOrganizationView>
