import {
  ChangedConnection,
  Connection,
  ConnectionFilters,
  ConnectionList,
  ConnectionTest,
  NewConnection,
  NewSecret,
} from './schema'
import type { ConnectionStore } from './store'
import { account } from '../../../http/access'
import { Success, objectId } from '../../../http/answers'
import { pageFields, toPage } from '../../../http/paging'
import { route, type Route } from '../../../http/route'

const tag = 'Connections'
const path = '/api/connections'
const reading = account('read', { tenant: 'organization' })
const writing = account('write', { tenant: 'organization' })
const params = { id: objectId('conn').describe('ID of the connection') }

/** A customer's own provider keys (BYOK). Source: contract 7.1. */
export const connectionRoutes = (connections: ConnectionStore): Route[] => [
  listConnections(connections),
  createConnection(connections),
  getConnection(connections),
  changeConnection(connections),
  deleteConnection(connections),
  testConnection(connections),
  updateConnectionKey(connections),
]

const listConnections = (connections: ConnectionStore) =>
  route({
    method: 'get',
    path,
    access: reading,
    operationId: 'listConnections',
    tag,
    summary: 'List connections',
    notes:
      'Yours, and those of your organizations. Secrets are never shown. Rate limits, key prefix and last error of an organization are for its owner and admins.',
    query: ConnectionFilters.extend(pageFields),
    responses: { 200: ConnectionList },
    handler({ principal, query: { limit, offset, cursor, ...filters } }) {
      const scope = `connections ${principal.userId} ${JSON.stringify(filters)}`
      return connections.list(principal, filters, toPage({ limit, offset, cursor }, scope))
    },
  })

const createConnection = (connections: ConnectionStore) =>
  route({
    method: 'post',
    path,
    access: writing,
    operationId: 'createConnection',
    tag,
    summary: 'Create a connection',
    notes:
      'Bring your own key: the secret is sealed before it is stored. The first connection of a provider becomes its default. `scope` `organization` requires the role owner or admin, and a key with `admin`. An address must be public, https, and on a permitted port.',
    body: NewConnection,
    examples: {
      'Your own key': { name: 'My key', provider: 'anthropic', api_key: 'sk-ant-...' },
    },
    responses: { 201: Connection },
    errors: ['resource_not_found'],
    handler: ({ principal, body }) => connections.create(principal, body),
  })

const getConnection = (connections: ConnectionStore) =>
  route({
    method: 'get',
    path: `${path}/:id`,
    access: reading,
    operationId: 'getConnection',
    tag,
    summary: 'Get a connection',
    notes: 'One of yours, or of an organization in which you are active.',
    params,
    responses: { 200: Connection },
    handler: ({ principal, params: { id } }) => connections.get(principal, id),
  })

const changeConnection = (connections: ConnectionStore) =>
  route({
    method: 'put',
    path: `${path}/:id`,
    access: writing,
    operationId: 'changeConnection',
    tag,
    summary: 'Update a connection',
    notes:
      'Provider, kind and scope cannot be changed. A new address discards the key of the old one. `status` `inactive` disables the connection, `active` enables it.',
    params,
    body: ChangedConnection,
    examples: { 'Make it the default': { is_default: true } },
    responses: { 200: Connection },
    handler: ({ principal, params: { id }, body }) => connections.change(principal, id, body),
  })

const deleteConnection = (connections: ConnectionStore) =>
  route({
    method: 'delete',
    path: `${path}/:id`,
    access: writing,
    operationId: 'deleteConnection',
    tag,
    summary: 'Delete a connection',
    notes:
      'Also removes it from its pools. Running requests complete; new ones use other connections.',
    params,
    responses: { 200: Success },
    handler: ({ principal, params: { id } }) => connections.delete(principal, id),
  })

const testConnection = (connections: ConnectionStore) =>
  route({
    method: 'post',
    path: `${path}/:id/test`,
    access: writing,
    operationId: 'testConnection',
    tag,
    summary: 'Test a connection',
    notes:
      'Requests the models of the provider, and updates `status` and the number of models. A failed test is a response with `success` false and the reason in `message`. Models that the catalogue lacks can be called from then on.',
    params,
    responses: { 200: ConnectionTest },
    handler: ({ principal, params: { id } }) => connections.test(principal, id),
  })

const updateConnectionKey = (connections: ConnectionStore) =>
  route({
    method: 'post',
    path: `${path}/:id/update-key`,
    access: writing,
    operationId: 'updateConnectionKey',
    tag,
    summary: 'Replace the key of a connection',
    notes: 'Discards the old key at once, and sets `status` to `active`.',
    params,
    body: NewSecret,
    examples: { 'Another key': { api_key: 'sk-ant-...' } },
    responses: { 200: Success },
    handler: ({ principal, params: { id }, body }) =>
      connections.updateKey(principal, id, body.api_key),
  })
