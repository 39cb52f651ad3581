import { z } from 'zod'
import { toModelAnswer } from './require-model'
import { sortFields, sortCatalogueModels } from './sort-models'
import type { Catalog } from '../../../catalog/catalog'
import { categories, type Model } from '../../../catalog/model'
import { pageFields, pageList, type Page } from '../../../http/paging'
import { flag, searchText } from '../../../http/query'

/** The query of the list. */
export const ModelFilter = z.object({
  provider: z.string().max(40).optional().describe('Only models of this provider'),
  category: z.enum(categories).optional().describe('Only models of this category'),
  enabled: flag.optional().describe('Only enabled models, or only disabled ones'),
  search: searchText('Text in the id or the name'),
  ...sortFields,
  ...pageFields,
})
export type ModelFilter = Omit<z.output<typeof ModelFilter>, keyof typeof pageFields>

const fits = (model: Model, { search, provider, category, enabled }: ModelFilter) =>
  (search === undefined || `${model.id} ${model.name}`.toLowerCase().includes(search)) &&
  (provider === undefined || model.provider === provider) &&
  (category === undefined || model.category === category) &&
  (enabled === undefined || model.enabled === enabled)

/** Returns a page of the catalogue, which is in memory. */
export function listModels({ snapshot }: Catalog, page: Page, filter: ModelFilter) {
  const search = filter.search?.toLowerCase()
  const matching = [...snapshot.models.values()].filter((model) =>
    fits(model, { ...filter, search }),
  )
  const rows = sortCatalogueModels(matching, filter)
  const behind = (before: string) => {
    // The cursor's model may be gone; by descending id, its place is known nevertheless.
    if (filter.sort === undefined) return rows.filter(({ id }) => id < before)
    const place = rows.findIndex(({ id }) => id === before)
    return place === -1 ? [] : rows.slice(place + 1)
  }
  const { items, pagination } = pageList(page, rows, behind)
  return { models: items.map(toModelAnswer), pagination }
}
