import { GatewayFilters, GatewayList, CreatedGateway, NewGateway } from './schema'
import type { GatewayStore } from './store'
import { account } from '../../../http/access'
import { Success, objectId } from '../../../http/answers'
import { pageFields, toPage } from '../../../http/paging'
import { route, type Route } from '../../../http/route'

const tag = 'Gateways'
const path = '/api/gateways'

/** Self-hosted gateways. Source: contract 7.3. */
export const gatewayRoutes = (gateways: GatewayStore): Route[] => [
  listGateways(gateways),
  createGateway(gateways),
  deleteGateway(gateways),
]

const listGateways = (gateways: GatewayStore) =>
  route({
    method: 'get',
    path,
    access: account('read', { tenant: 'organization' }),
    operationId: 'listGateways',
    tag,
    summary: 'List self-hosted gateways',
    notes:
      'Yours, and those of your organizations. A gateway is `offline` when its socket is closed or it was silent for a minute. Models and tools are those that it announced last.',
    query: GatewayFilters.extend(pageFields),
    responses: { 200: GatewayList },
    handler({ principal, query: { limit, offset, cursor, ...filters } }) {
      const scope = `gateways ${principal.userId} ${JSON.stringify(filters)}`
      return gateways.list(principal, filters, toPage({ limit, offset, cursor }, scope))
    },
  })

const createGateway = (gateways: GatewayStore) =>
  route({
    method: 'post',
    path,
    access: account('write', { tenant: 'organization' }),
    operationId: 'createGateway',
    tag,
    summary: 'Create a self-hosted gateway',
    notes:
      'Only this response contains the token. The gateway presents it at `connect_url`, where it opens a WebSocket with the subprotocol `tollgate.gateway.1`. Its first message creates a connection for each of its providers; their models can be called from then on.',
    body: NewGateway,
    examples: { 'At home': { name: 'The machine under the desk' } },
    responses: { 201: CreatedGateway },
    errors: ['resource_not_found'],
    handler: ({ principal, body }) => gateways.create(principal, body),
  })

const deleteGateway = (gateways: GatewayStore) =>
  route({
    method: 'delete',
    path: `${path}/:id`,
    access: account('write', { tenant: 'organization' }),
    operationId: 'deleteGateway',
    tag,
    summary: 'Delete a self-hosted gateway',
    notes:
      'Its token is invalid at once, and its socket closes within a second. Its connections stay, `inactive` for good.',
    params: { id: objectId('gw').describe('ID of the gateway') },
    responses: { 200: Success },
    handler: ({ principal, params: { id } }) => gateways.delete(principal, id),
  })
