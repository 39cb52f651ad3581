import type { FavoriteStore } from './favorites'
import { Favorite, FavoriteList, NewFavorite } from './schema'
import { account } from '../../../http/access'
import { Success } from '../../../http/answers'
import { modelIdParameter, parseModelId } from '../../../http/model-path'
import { route, type Route } from '../../../http/route'

const tag = 'Catalogue'
const path = '/api/favorites'

/** Favorite models and collections of an account. Source: contract 6.8. */
export const favoriteRoutes = (favorites: FavoriteStore): Route[] => [
  listFavorites(favorites),
  addFavorite(favorites),
  removeFavorite(favorites),
]

const listFavorites = (favorites: FavoriteStore) =>
  route({
    method: 'get',
    path,
    access: account('read'),
    operationId: 'listFavorites',
    tag,
    summary: 'List your favorite models and collections',
    notes: '`model` is null if the catalogue no longer has it.',
    responses: { 200: FavoriteList },
    handler: ({ principal }) => favorites.list(principal.userId),
  })

const addFavorite = (favorites: FavoriteStore) =>
  route({
    method: 'post',
    path,
    access: account('write'),
    operationId: 'addFavorite',
    tag,
    summary: 'Add a favorite',
    notes: 'Up to 1,000. 200 if it is one already.',
    body: NewFavorite,
    examples: { 'A model': { model_id: 'sandbox/echo' } },
    responses: { 200: Favorite.describe('Already a favorite'), 201: Favorite },
    errors: ['model_not_found'],
    handler: async ({ c, principal, body }) => {
      const { favorite, isNew } = await favorites.add(principal.userId, body.model_id)
      return c.json(favorite, isNew ? 201 : 200)
    },
  })

const removeFavorite = (favorites: FavoriteStore) =>
  route({
    method: 'delete',
    path: `${path}/:model_id{.+}`,
    access: account('write'),
    operationId: 'removeFavorite',
    tag,
    summary: 'Remove a favorite',
    notes: '404 if it is not a favorite.',
    params: { model_id: modelIdParameter },
    responses: { 200: Success },
    handler: ({ c, principal }) =>
      favorites.remove(principal.userId, parseModelId(c.req.raw.url, `${path}/`)),
  })
