import { sql, type Kysely } from 'kysely'
import { idAfter } from './ids'
import { ofOrganization, servingOrganizations, type PublicRow } from './public-rows'
import type { Introduced, ProviderView } from './providers'
import type { PublicServed } from './served-models'
import { CachedValue } from '../../platform/cached-value'
import type { Schema } from '../../platform/db/schema'
import { queryPage } from '../../http/paged-rows'
import { toPaged, type Page } from '../../http/paging'

const keepMs = 30_000

/** Shows a public organization that serves models as a provider. */
export const toOrganizationProfile = (row: PublicRow, modelCount: number) => ({
  id: idAfter('prof', row.id),
  provider_key: null,
  organization_slug: row.slug,
  display_name: row.name,
  description: row.description,
  website: row.website,
  logo_url: null,
  kind: row.provider_kind,
  model_count: modelCount,
  // Only models have ratings, not providers.
  rating: null,
})

const toUpstreamProfile = (provider: Introduced, rating: number | undefined) => ({
  id: idAfter('prof', provider.id),
  provider_key: provider.key,
  organization_slug: null,
  display_name: provider.name,
  description: provider.description,
  website: provider.website,
  logo_url: provider.logo_url,
  kind: 'upstream' as const,
  model_count: provider.models.length,
  rating: rating ?? null,
})

interface Sources {
  db: Kysely<Schema>
  providers: ProviderView
  served: PublicServed
}

/** Lists the providers by name, then public organizations that serve models, newest first. */
export function createProfileView({ db, providers, served }: Sources) {
  const ratings = new CachedValue({ read: () => ratingsByProvider(db), keepMs })

  async function upstream(search: string | undefined) {
    const term = search?.toLowerCase() ?? ''
    const [all, averages] = await Promise.all([providers.introduced(), ratings.get()])
    return all
      .filter(({ key, name }) => key.includes(term) || name.toLowerCase().includes(term))
      .map((provider) => toUpstreamProfile(provider, averages.get(provider.key)))
  }

  return {
    async list(page: Page, search: string | undefined) {
      const first = await upstream(search)
      const start = startIn(first, page)
      const slice = first.slice(start, start + page.limit + 1)
      const behind = await queryPage(db, servingOrganizations(db, search), {
        page: behindPage(page, { start, length: first.length, count: slice.length }),
        column: ofOrganization,
      })
      const others = behind.items.map(async (row) =>
        toOrganizationProfile(row, (await served.of(row)).length),
      )
      const total = BigInt(first.length + behind.pagination.total)
      const { items: count, pagination } = toPaged(page, total, [
        ...slice,
        ...(await Promise.all(others)),
      ])
      return { provider_profiles: count, pagination }
    },
  }
}

export type ProfileView = ReturnType<typeof createProfileView>

/**
 * Returns the index at which a page begins among the providers; at or beyond their end where it has none of them.
 */
function startIn(profiles: readonly { id: string }[], { before, offset }: Page): number {
  if (before === undefined) return offset
  const at = profiles.findIndex(({ id }) => id === before)
  return at < 0 ? profiles.length + 1 : at + 1
}

interface ProviderSlice {
  start: number
  /** The number of providers, and how many of them are on the page. */
  length: number
  count: number
}

/** Returns the page of organizations that follows the last provider. */
function behindPage({ before, limit, scope }: Page, { start, length, count }: ProviderSlice): Page {
  const isOfOrganization = before !== undefined && start > length
  return {
    scope,
    // One row more than the page shows whether there are more.
    limit: Math.max(limit - count, 0) + 1,
    offset: before === undefined ? Math.max(start - length, 0) : 0,
    before: isOfOrganization ? idAfter('org', before) : undefined,
  }
}

async function ratingsByProvider(db: Kysely<Schema>): Promise<Map<string, number>> {
  const { rows } = await sql<{ provider: string; average: number }>`
    select split_part(model_id, '/', 1) as provider,
      (sum(rating * ratings) / sum(ratings))::float8 as average
    from model_rating_sum where ratings > 0
    group by 1`.execute(db)
  return new Map(rows.map((row) => [row.provider, Math.round(row.average * 100) / 100]))
}
