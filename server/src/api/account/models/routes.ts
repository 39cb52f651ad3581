import type { FavoriteStore } from './favorites'
import { favoriteRoutes } from './favorite-routes'
import { listRatings, ratingRoutes } from './rating-routes'
import type { RatingStore } from './ratings'
import { ModelPage, PublicModelFilters, CatalogueModel } from './schema'
import type { CatalogueStore } from './store'
import { account } from '../../../http/access'
import { modelIdParameter, parseModelId, withSubresource } from '../../../http/model-path'
import { toPage } from '../../../http/paging'
import { route, type Route } from '../../../http/route'

const tag = 'Catalogue'
const path = '/api/models'

export interface CatalogueStores {
  catalogue: CatalogueStore
  favorites: FavoriteStore
  ratings: RatingStore
}

/** Models, favorites and ratings. Source: contract 6.8. */
export const catalogueRoutes = ({ catalogue, favorites, ratings }: CatalogueStores): Route[] => [
  ...ratingRoutes(ratings),
  ...favoriteRoutes(favorites),
  listCatalogue(catalogue),
  withSubresource(getCatalogueModel(catalogue), '/ratings', listRatings(ratings)),
]

const listCatalogue = (catalogue: CatalogueStore) =>
  route({
    method: 'get',
    path,
    access: account('read'),
    operationId: 'listCatalogue',
    tag,
    summary: 'List models with their prices',
    notes:
      '`billing_mode` names the payer of your next request; null if no connection serves the model to you. Prices are USD for 1,000,000 tokens.',
    query: PublicModelFilters,
    responses: { 200: ModelPage },
    handler: ({ principal: { userId }, query }) => {
      const { limit, offset, cursor, ...filters } = query
      const page = toPage({ limit, offset, cursor }, `models ${userId} ${JSON.stringify(filters)}`)
      return catalogue.list(userId, filters, page)
    },
  })

const getCatalogueModel = (catalogue: CatalogueStore) =>
  route({
    method: 'get',
    path: `${path}/:model_id{.+}`,
    access: account('read'),
    operationId: 'getCatalogueModel',
    tag,
    summary: 'Get a model with its prices',
    notes: 'Context length, output limit, capabilities and prices.',
    params: { model_id: modelIdParameter },
    responses: { 200: CatalogueModel },
    errors: ['model_not_found'],
    handler: ({ c, principal }) =>
      catalogue.get(principal.userId, parseModelId(c.req.raw.url, `${path}/`)),
  })
