import type { RatingStore } from './ratings'
import { ModelRatings, NewRating, Rating, RatingFilter, RatingList, RatingPage } from './schema'
import { account } from '../../../http/access'
import { Success } from '../../../http/answers'
import { modelIdParameter, parseModelId } from '../../../http/model-path'
import { toPage } from '../../../http/paging'
import { route, type Route } from '../../../http/route'

const tag = 'Catalogue'
const path = '/api/models/:model_id{.+}/ratings'
const params = { model_id: modelIdParameter }

const toRatedModel = (url: string) => parseModelId(url, '/api/models/', '/ratings')

/** Ratings of models. Source: contract 6.8. */
export const ratingRoutes = (ratings: RatingStore): Route[] => [
  listRatings(ratings),
  rateModel(ratings),
  deleteRating(ratings),
  listOwnRatings(ratings),
]

export const listRatings = (ratings: RatingStore) =>
  route({
    method: 'get',
    path,
    access: account('read'),
    operationId: 'listRatings',
    tag,
    summary: 'List the ratings of a model',
    notes: '`summary` covers all ratings.',
    params,
    query: RatingFilter,
    responses: { 200: ModelRatings },
    errors: ['model_not_found'],
    handler: ({ c, principal: { userId }, query }) => {
      const modelId = toRatedModel(c.req.raw.url)
      const page = toPage(query, `ratings ${userId} ${query.sort} ${modelId ?? ''}`)
      return ratings.list(userId, modelId, { page, sort: query.sort })
    },
  })

const rateModel = (ratings: RatingStore) =>
  route({
    method: 'post',
    path,
    access: account('write'),
    operationId: 'rateModel',
    tag,
    summary: 'Rate a model',
    notes:
      '1 to 5, with a review of up to 2,000 characters. An account has one rating of a model; 200 if it replaces an earlier one.',
    params,
    body: NewRating,
    examples: { 'With a review': { rating: 4, review: 'Quick and exact.' } },
    responses: { 200: Rating.describe('Replaced'), 201: Rating },
    errors: ['model_not_found'],
    handler: async ({ c, principal, body }) => {
      const modelId = toRatedModel(c.req.raw.url)
      const { rating, isNew } = await ratings.rate(principal.userId, modelId, body)
      return c.json(rating, isNew ? 201 : 200)
    },
  })

const deleteRating = (ratings: RatingStore) =>
  route({
    method: 'delete',
    path,
    access: account('write'),
    operationId: 'deleteRating',
    tag,
    summary: 'Delete your rating of a model',
    notes: '404 if you have none.',
    params,
    responses: { 200: Success },
    handler: ({ c, principal }) => ratings.remove(principal.userId, toRatedModel(c.req.raw.url)),
  })

const listOwnRatings = (ratings: RatingStore) =>
  route({
    method: 'get',
    path: '/api/ratings/my-ratings',
    access: account('read'),
    operationId: 'listOwnRatings',
    tag,
    summary: 'List your ratings',
    notes: 'Newest first.',
    query: RatingPage,
    responses: { 200: RatingList },
    handler: ({ principal: { userId }, query }) =>
      ratings.listOf(userId, toPage(query, `my ratings ${userId}`)),
  })
