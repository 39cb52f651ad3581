import {
  Favorite,
  FavoriteList,
  ShownModel,
  ModelPage,
  ModelRatings,
  NewFavorite,
  NewRating,
  Rating,
  RatingList,
} from './schema'
import { accountRoute, Done, paging } from '../../../http/documentation'

const tag = 'Catalogue'

const filters = [
  'provider',
  'category',
  'capability',
  'billing_mode',
  'free',
  'callable',
  'search',
  'sort',
  'prompt_tokens',
]

export const listCatalogue = accountRoute({
  operationId: 'listCatalogue',
  summary: 'Models with prices, and how a call of yours would be paid',
  tag,
  query: [...filters, ...paging],
  answer: ModelPage,
})

export const getCatalogueModel = accountRoute({
  operationId: 'getCatalogueModel',
  summary: 'One model; slashes of its id may be sent as they are or encoded',
  tag,
  path: ['model_id'],
  answer: ShownModel,
  errors: ['model_not_found'],
})

export const listFavorites = accountRoute({
  operationId: 'listFavorites',
  summary: 'Your favourite models and collections',
  tag,
  answer: FavoriteList,
})

export const addFavorite = accountRoute({
  operationId: 'addFavorite',
  summary: 'Make a model or a collection a favourite; 200 where it is one already',
  tag,
  status: 201,
  otherwise: 'It was there already',
  body: ['NewFavorite', NewFavorite, { 'A model': { model_id: 'sandbox/echo' } }],
  answer: Favorite,
  errors: ['model_not_found'],
})

export const removeFavorite = accountRoute({
  operationId: 'removeFavorite',
  summary: 'Have it be no favourite any more',
  tag,
  path: ['model_id'],
  answer: Done,
})

export const listRatings = accountRoute({
  operationId: 'listRatings',
  summary: 'What accounts think of a model',
  tag,
  path: ['model_id'],
  query: ['sort', ...paging],
  answer: ModelRatings,
  errors: ['model_not_found'],
})

export const rateModel = accountRoute({
  operationId: 'rateModel',
  summary: 'Rate a model; 200 where that takes the place of your earlier rating',
  tag,
  status: 201,
  otherwise: 'It was there already',
  path: ['model_id'],
  body: ['NewRating', NewRating, { 'With a review': { rating: 4, review: 'Quick and exact.' } }],
  answer: Rating,
  errors: ['model_not_found'],
})

export const deleteRating = accountRoute({
  operationId: 'deleteRating',
  summary: 'Delete your rating of a model',
  tag,
  path: ['model_id'],
  answer: Done,
})

export const listOwnRatings = accountRoute({
  operationId: 'listOwnRatings',
  summary: 'Your ratings',
  tag,
  query: paging,
  answer: RatingList,
})
