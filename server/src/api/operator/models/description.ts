import { AnsweredModel, AnsweredModelList, PriceHistory } from './answer'
import { ModelFilters } from './list'
import { ChangedModel, NewModel, NewPrice } from './schema'
import { Done, operatorRoute, paging } from '../../../http/documentation'

const tag = 'Models'
const path = ['id'] as const
const pricing = { input: 0.5, output: 1.5 }
const example = { id: 'mine/small', name: 'Small', category: 'chat', pricing }

export const described = {
  list: operatorRoute({
    operationId: 'listCatalogueModels',
    summary: 'The whole catalogue, also what is not enabled',
    tag,
    query: ['search', ...Object.keys(ModelFilters.shape), ...paging],
    answer: AnsweredModelList,
  }),
  create: operatorRoute({
    operationId: 'createCatalogueModel',
    summary: 'Add a model to the catalogue',
    tag,
    status: 201,
    answer: AnsweredModel,
    body: ['NewModel', NewModel, { 'A model of a provider of your own': example }],
    errors: ['invalid_model'],
  }),
  get: operatorRoute({
    operationId: 'getCatalogueModel',
    summary: 'One model of the catalogue',
    tag,
    path,
    answer: AnsweredModel,
    errors: ['model_not_found'],
  }),
  change: operatorRoute({
    operationId: 'changeCatalogueModel',
    summary: 'Change a model, or take one that comes with Tollgate over',
    tag,
    path,
    answer: AnsweredModel,
    body: ['ChangedModel', ChangedModel, { 'Serve it no longer': { enabled: false } }],
    errors: ['model_not_found'],
  }),
  delete: operatorRoute({
    operationId: 'deleteCatalogueModel',
    summary: 'Delete a model, or the changes to one that comes with Tollgate',
    tag,
    path,
    answer: Done,
    errors: ['model_not_found'],
  }),
  listPrices: operatorRoute({
    operationId: 'listModelPrices',
    summary: 'What a model costs, cost before and will cost',
    tag,
    path,
    answer: PriceHistory,
    errors: ['model_not_found'],
  }),
  setPrice: operatorRoute({
    operationId: 'setModelPrice',
    summary: 'Set what a model costs, from now or from a later time',
    tag,
    path,
    answer: PriceHistory,
    body: ['NewPrice', NewPrice, { 'From now on': { pricing } }],
    errors: ['model_not_found'],
  }),
}
