import { z } from 'zod'
import { toModelAnswer } from './require-model'
import type { Catalog } from '../../../catalog/catalog'
import { categories, type Model } from '../../../catalog/model'
import { pageList, type Page } from '../../../http/paging'

/** Filters of the list. */
export const ModelFilters = z.object({
  provider: z.string().max(40).optional(),
  category: z.enum(categories).optional(),
  enabled: z
    .enum(['true', 'false'])
    .transform((text) => text === 'true')
    .optional(),
})
export type ModelFilters = z.output<typeof ModelFilters>

interface Wanted extends ModelFilters {
  search: string | undefined
}

const fits = (model: Model, { search, provider, category, enabled }: Wanted) =>
  (search === undefined || `${model.id} ${model.name}`.toLowerCase().includes(search)) &&
  (provider === undefined || model.provider === provider) &&
  (category === undefined || model.category === category) &&
  (enabled === undefined || model.enabled === enabled)

/** Returns a page of the catalogue, which is in memory. */
export function listModels({ snapshot }: Catalog, page: Page, wanted: Wanted) {
  const search = wanted.search?.toLowerCase()
  const matching = [...snapshot.models.values()].filter((model) =>
    fits(model, { ...wanted, search }),
  )
  const rows = matching.toReversed()
  const behind = (before: string) => rows.filter(({ id }) => id < before)
  const { shown, pagination } = pageList(page, rows, behind)
  return { models: shown.map(toModelAnswer), pagination }
}
