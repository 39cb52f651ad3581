import { GatewayFilters, GatewayList, MadeGateway, NewGateway } from './schema'
import { accountRoute, Done, paging } from '../../../http/documentation'

const tag = 'Gateways'

/** The OpenAPI descriptions of this group's routes. */
export const described = {
  listGateways: accountRoute({
    operationId: 'listGateways',
    summary: 'Your self-hosted gateways, and those of your organizations',
    tag,
    answer: GatewayList,
    query: [...Object.keys(GatewayFilters.shape), ...paging],
  }),
  createGateway: accountRoute({
    operationId: 'createGateway',
    summary: 'Make a self-hosted gateway; the answer has its token, once',
    tag,
    status: 201,
    answer: MadeGateway,
    body: ['NewGateway', NewGateway, { 'At home': { name: 'The machine under the desk' } }],
    errors: ['resource_not_found'],
  }),
  deleteGateway: accountRoute({
    operationId: 'deleteGateway',
    summary: 'Delete a gateway; its token stops at once, its connections become inactive',
    tag,
    answer: Done,
    path: ['id'],
  }),
}
