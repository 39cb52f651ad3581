import { sql, type Kysely } from 'kysely'
import { idAfter } from './ids'
import { ofOrganization, servingOrganizations, type PublicRow } from './public-rows'
import type { Introduced, ProviderView } from './providers'
import type { PublicServed } from './served-models'
import { CachedValue } from '../../db/cached-value'
import type { Schema } from '../../db/schema'
import { queryPage } from '../../http/paged-rows'
import { toPaged, type Page } from '../../http/paging'

const keepMs = 30_000

/** A public organization that serves models, as a provider of them. */
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
  // Models are rated, not who serves them.
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

/** The providers by name, then public organizations that serve models, newest first. */
export function createProfileView({ db, providers, served }: Sources) {
  const ratings = new CachedValue({ read: () => ratingsByProvider(db), keepMs })

  async function upstream(search: string | undefined) {
    const words = search?.toLowerCase() ?? ''
    const [all, averages] = await Promise.all([providers.introduced(), ratings.get()])
    return all
      .filter(({ key, name }) => key.includes(words) || name.toLowerCase().includes(words))
      .map((provider) => toUpstreamProfile(provider, averages.get(provider.key)))
  }

  return {
    async list(page: Page, search: string | undefined) {
      const first = await upstream(search)
      const start = startIn(first, page)
      const wanted = first.slice(start, start + page.limit + 1)
      const behind = await queryPage(db, servingOrganizations(db, search), {
        page: behindPage(page, { start, length: first.length, shown: wanted.length }),
        column: ofOrganization,
      })
      const others = behind.shown.map(async (row) =>
        toOrganizationProfile(row, (await served.of(row)).length),
      )
      const total = BigInt(first.length + behind.pagination.total)
      const { shown, pagination } = toPaged(page, total, [
        ...wanted,
        ...(await Promise.all(others)),
      ])
      return { provider_profiles: shown, pagination }
    },
  }
}

export type ProfileView = ReturnType<typeof createProfileView>

/** Where a page begins among the providers; at their end or behind it, where it has none of them. */
function startIn(profiles: readonly { id: string }[], { before, offset }: Page): number {
  if (before === undefined) return offset
  const at = profiles.findIndex(({ id }) => id === before)
  return at < 0 ? profiles.length + 1 : at + 1
}

interface First {
  start: number
  /** How many providers there are, and how many of them are on the page. */
  length: number
  shown: number
}

/** The page of organizations that goes on where the providers end. */
function behindPage({ before, limit, scope }: Page, { start, length, shown }: First): Page {
  const isOfOrganization = before !== undefined && start > length
  return {
    scope,
    // One row more than the page has tells whether there are more.
    limit: Math.max(limit - shown, 0) + 1,
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
