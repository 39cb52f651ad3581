import { z } from 'zod'
import type { ConnectionModelStore } from './models'
import { ConnectionModel, ConnectionModelList, SetPrice } from './schema'
import { account } from '../../../http/access'
import { objectId } from '../../../http/answers'
import { pageFields, toPage } from '../../../http/paging'
import { route, type Route } from '../../../http/route'

const tag = 'Connections'
const params = { id: objectId('conn').describe('ID of the connection') }

/** Models of connections, and their owners' prices. Source: contract 7.1. */
export const connectionModelRoutes = (models: ConnectionModelStore): Route[] => [
  listConnectionModels(models),
  setConnectionModelPrice(models),
]

const listConnectionModels = (models: ConnectionModelStore) =>
  route({
    method: 'get',
    path: '/api/connections/:id/models',
    access: account('read', { tenant: 'organization' }),
    operationId: 'listConnectionModels',
    tag,
    summary: 'List the models of a connection',
    notes:
      'Models of the catalogue and those that only the connection has, by ID, with their prices. Of a self-hosted gateway, those that it announced last.',
    params,
    query: z.object(pageFields),
    responses: { 200: ConnectionModelList },
    handler: ({ principal, params: { id }, query }) =>
      models.list(principal, id, toPage(query, `models of ${id}`)),
  })

const setConnectionModelPrice = (models: ConnectionModelStore) =>
  route({
    method: 'put',
    path: '/api/connections/:id/models/pricing',
    access: account('write', { tenant: 'organization' }),
    operationId: 'setConnectionModelPrice',
    tag,
    summary: 'Set the price of a model of a connection',
    notes:
      'For a model that the catalogue lacks, from the next request on. `pricing` null makes it free. Prices are USD per 1,000,000 tokens, above zero and up to the maximum of the operator. Members who pay are charged this price, and your organization receives it less the fee. Organizations require the role owner or admin, and a key with `admin`.',
    params,
    body: SetPrice,
    examples: {
      'USD per 1,000,000 tokens': { model: 'fake/mine', pricing: { input: 0.5, output: 1.5 } },
      Free: { model: 'fake/mine', pricing: null },
    },
    responses: { 200: ConnectionModel },
    handler: ({ principal, params: { id }, body }) => models.price(principal, id, body),
  })
