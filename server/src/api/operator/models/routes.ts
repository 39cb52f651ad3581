import { AnsweredModel, AnsweredModelList, PriceHistory } from './answer'
import { ModelFilter } from './list'
import type { PriceStore } from './prices'
import { ChangedModel, NewModel, NewPrice } from './schema'
import type { ModelStore } from './store'
import { operator } from '../../../http/access'
import { Success } from '../../../http/answers'
import { modelIdParameter, parseModelId, withSubresource } from '../../../http/model-path'
import { toPage } from '../../../http/paging'
import { route, type Route } from '../../../http/route'

const tag = 'Models'
const access = operator()
const path = '/api/admin/models'
const onePath = `${path}/:id{[\\s\\S]+}` as const
const pricesPath = `${onePath}/prices` as const
const params = { id: modelIdParameter }
const pricing = { input: 0.5, output: 1.5 }

/** A path that cannot be decoded matches no model. */
const toPricedModel = (url: string) => parseModelId(url, `${path}/`, '/prices') ?? ''

/** The stores that the routes use. */
export interface AdminModelStores {
  models: ModelStore
  prices: PriceStore
}

/** The catalogue, for the operator; the slash of an id may be raw or encoded. Source: contract 9.2. */
export const adminModelRoutes = ({ models, prices }: AdminModelStores): Route[] => [
  listCatalogueModels(models),
  createCatalogueModel(models),
  listModelPrices(prices),
  setModelPrice(prices),
  withSubresource(getCatalogueModel(models), '/prices', listModelPrices(prices)),
  withSubresource(changeCatalogueModel(models), '/prices', setModelPrice(prices)),
  deleteCatalogueModel(models),
]

const listCatalogueModels = (models: ModelStore) =>
  route({
    method: 'get',
    path,
    access: operator({ roles: ['finance', 'read_only'] }),
    operationId: 'listCatalogueModels',
    tag,
    summary: 'List the models of the catalogue',
    notes: 'Includes disabled ones.',
    query: ModelFilter,
    responses: { 200: AnsweredModelList },
    handler: ({ query }) => {
      const { limit, offset, cursor, search, ...filter } = query
      const scope = `models ${search ?? ''} ${JSON.stringify(filter)}`
      return models.list(toPage({ limit, offset, cursor }, scope), { ...filter, search })
    },
  })

const createCatalogueModel = (models: ModelStore) =>
  route({
    method: 'post',
    path,
    access,
    operationId: 'createCatalogueModel',
    tag,
    summary: 'Add a model to the catalogue',
    body: NewModel,
    examples: {
      'A model of an added provider': {
        id: 'mine/small',
        name: 'Small',
        category: 'chat',
        pricing,
      },
    },
    responses: { 201: AnsweredModel },
    errors: ['invalid_model'],
    handler: ({ body }) => models.create(body),
  })

const getCatalogueModel = (models: ModelStore) =>
  route({
    method: 'get',
    path: onePath,
    access: operator({ roles: ['finance', 'read_only'] }),
    operationId: 'getCatalogueModel',
    tag,
    summary: 'Get a model of the catalogue',
    params,
    responses: { 200: AnsweredModel },
    errors: ['model_not_found'],
    handler: ({ params: { id } }) => models.get(id),
  })

const changeCatalogueModel = (models: ModelStore) =>
  route({
    method: 'put',
    path: onePath,
    access,
    operationId: 'changeCatalogueModel',
    tag,
    summary: 'Update a model of the catalogue',
    notes: 'Overrides the fields of a built-in model.',
    params,
    body: ChangedModel,
    examples: { Disable: { enabled: false } },
    responses: { 200: AnsweredModel },
    errors: ['model_not_found'],
    handler: ({ params: { id }, body }) => models.change(id, body),
  })

const deleteCatalogueModel = (models: ModelStore) =>
  route({
    method: 'delete',
    path: onePath,
    access,
    operationId: 'deleteCatalogueModel',
    tag,
    summary: 'Delete a model of the catalogue',
    notes: 'Of a built-in model, the changes are deleted.',
    params,
    responses: { 200: Success },
    errors: ['model_not_found'],
    handler: ({ params: { id } }) => models.delete(id),
  })

const listModelPrices = (prices: PriceStore) =>
  route({
    method: 'get',
    path: pricesPath,
    access: operator({ roles: ['finance', 'read_only'] }),
    operationId: 'listModelPrices',
    tag,
    summary: 'List past, current and planned prices of a model',
    params,
    responses: { 200: PriceHistory },
    errors: ['model_not_found'],
    handler: ({ c }) => prices.list(toPricedModel(c.req.raw.url)),
  })

const setModelPrice = (prices: PriceStore) =>
  route({
    method: 'put',
    path: pricesPath,
    access,
    operationId: 'setModelPrice',
    tag,
    summary: 'Set the price of a model',
    notes: 'From now on, or from `effective_at` on.',
    params,
    body: NewPrice,
    examples: { 'From now on': { pricing } },
    responses: { 200: PriceHistory },
    errors: ['model_not_found'],
    handler: ({ c, body }) => prices.set(toPricedModel(c.req.raw.url), body),
  })
