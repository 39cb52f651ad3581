import { Hono, type Context } from 'hono'
import * as described from './description'
import type { FavoriteStore } from './favorites'
import type { RatingStore } from './ratings'
import { PublicModelFilters, NewFavorite, NewRating, RatingOrder } from './schema'
import type { CatalogueStore } from './store'
import type { Env } from '../../../http/env'
import { readNewFields } from '../../../http/fields'
import type { Guards } from '../../../http/guards'
import { parseModelId } from '../../../http/model-path'
import { toPage } from '../../../http/paging'
import { check } from '../../../wire/json-body'

const paths = '/api/models'
const one = `${paths}/:model_id{.+}`
const rated = `${one}/ratings`
const favored = '/api/favorites'

export interface CatalogueStores {
  catalogue: CatalogueStore
  favorites: FavoriteStore
  ratings: RatingStore
}

const modelOf = (c: Context<Env>, suffix = '') => parseModelId(c.req.raw.url, `${paths}/`, suffix)
const ratedIn = (c: Context<Env>) => modelOf(c, '/ratings')

/** Models, favourites and ratings. Source: contract 6.8. */
export const catalogueRoutes = (stores: CatalogueStores, guards: Guards) =>
  new Hono<Env>()
    .route('/', ratingRoutes(stores.ratings, guards))
    .route('/', favoriteRoutes(stores.favorites, guards))
    .get(paths, described.listCatalogue, guards.account('read', 'account'), async (c) => {
      const { userId } = c.var.principal
      const filters = check(PublicModelFilters, c.req.query())
      const page = toPage(c, `models ${userId} ${JSON.stringify(filters)}`)
      return c.json(await stores.catalogue.list(userId, filters, page))
    })
    .get(one, described.getCatalogueModel, guards.account('read', 'account'), async (c) =>
      // The router takes the whole rest of the path for the id, including `/ratings`.
      asksRatings(c)
        ? listRatings(stores.ratings, c)
        : c.json(await stores.catalogue.get(c.var.principal.userId, modelOf(c))),
    )

const asksRatings = (c: Context<Env>) => /\/ratings\/?$/.test(c.req.raw.url.replace(/[?#].*$/s, ''))

async function listRatings(ratings: RatingStore, c: Context<Env>) {
  const { userId } = c.var.principal
  const { sort } = check(RatingOrder, c.req.query())
  const modelId = ratedIn(c)
  const page = toPage(c, `ratings ${userId} ${sort} ${modelId ?? ''}`)
  return c.json(await ratings.list(userId, modelId, { page, sort }))
}

const ratingRoutes = (ratings: RatingStore, { account }: Guards) =>
  new Hono<Env>()
    .get(rated, described.listRatings, account('read', 'account'), (c) => listRatings(ratings, c))
    .post(rated, described.rateModel, account('write', 'account'), async (c) => {
      const fields = await readNewFields(c, NewRating)
      const { rating, isNew } = await ratings.rate(c.var.principal.userId, ratedIn(c), fields)
      return c.json(rating, isNew ? 201 : 200)
    })
    .delete(rated, described.deleteRating, account('write', 'account'), async (c) =>
      c.json(await ratings.remove(c.var.principal.userId, ratedIn(c))),
    )
    .get(
      '/api/ratings/my-ratings',
      described.listOwnRatings,
      account('read', 'account'),
      async (c) => {
        const { userId } = c.var.principal
        return c.json(await ratings.listOf(userId, toPage(c, `my ratings ${userId}`)))
      },
    )

const favoriteRoutes = (favorites: FavoriteStore, { account }: Guards) =>
  new Hono<Env>()
    .get(favored, described.listFavorites, account('read', 'account'), async (c) =>
      c.json(await favorites.list(c.var.principal.userId)),
    )
    .post(favored, described.addFavorite, account('write', 'account'), async (c) => {
      const { model_id: modelId } = await readNewFields(c, NewFavorite)
      const { favorite, isNew } = await favorites.add(c.var.principal.userId, modelId)
      return c.json(favorite, isNew ? 201 : 200)
    })
    .delete(
      `${favored}/:model_id{.+}`,
      described.removeFavorite,
      account('write', 'account'),
      async (c) => {
        const modelId = parseModelId(c.req.raw.url, `${favored}/`)
        return c.json(await favorites.remove(c.var.principal.userId, modelId))
      },
    )
