import type { PlatformConnectionStore } from './store'
import {
  ChangedPlatformConnection,
  ConnectionTest,
  NewPlatformConnection,
  NewSecret,
  PlatformConnection,
  PlatformConnectionFilter,
  PlatformConnectionList,
} from '../../account/connections/schema'
import { operator } from '../../../http/access'
import { Success, objectId } from '../../../http/answers'
import { toPage } from '../../../http/paging'
import { route, type Route } from '../../../http/route'

const tag = 'Connections'
const access = operator()
const path = '/api/admin/connections'
const params = { id: objectId('conn').describe('ID of the connection') }
const api_key = 'sk-ant-...'

/** Connections of the platform, for the operator. Source: contract 7.1, 9.2. */
export const platformConnectionRoutes = (connections: PlatformConnectionStore): Route[] => [
  listPlatformConnections(connections),
  createPlatformConnection(connections),
  getPlatformConnection(connections),
  changePlatformConnection(connections),
  deletePlatformConnection(connections),
  testPlatformConnection(connections),
  updatePlatformConnectionKey(connections),
]

const listPlatformConnections = (connections: PlatformConnectionStore) =>
  route({
    method: 'get',
    path,
    access: operator({ roles: ['read_only'] }),
    operationId: 'listPlatformConnections',
    tag,
    summary: 'List connections of the platform',
    notes: 'Stored ones first, then those from the environment, discovered and built-in ones.',
    query: PlatformConnectionFilter,
    responses: { 200: PlatformConnectionList },
    handler: ({ query }) =>
      connections.list(toPage(query, `connections ${query.search ?? ''}`), query.search),
  })

const createPlatformConnection = (connections: PlatformConnectionStore) =>
  route({
    method: 'post',
    path,
    access,
    operationId: 'createPlatformConnection',
    tag,
    summary: 'Create a connection for every account',
    body: NewPlatformConnection,
    examples: { 'With a key': { name: 'Main', provider: 'anthropic', api_key } },
    responses: { 201: PlatformConnection },
    handler: ({ body }) => connections.create(body),
  })

const getPlatformConnection = (connections: PlatformConnectionStore) =>
  route({
    method: 'get',
    path: `${path}/:id`,
    access: operator({ roles: ['read_only'] }),
    operationId: 'getPlatformConnection',
    tag,
    summary: 'Get a connection of the platform',
    params,
    responses: { 200: PlatformConnection },
    handler: ({ params: { id } }) => connections.get(id),
  })

const changePlatformConnection = (connections: PlatformConnectionStore) =>
  route({
    method: 'put',
    path: `${path}/:id`,
    access,
    operationId: 'changePlatformConnection',
    tag,
    summary: 'Update a stored connection',
    notes: 'A new `endpoint_url` discards the key and the headers that the request does not have.',
    params,
    body: ChangedPlatformConnection,
    examples: { 'Highest priority': { priority: 1 } },
    responses: { 200: PlatformConnection },
    handler: ({ params: { id }, body }) => connections.change(id, body),
  })

const deletePlatformConnection = (connections: PlatformConnectionStore) =>
  route({
    method: 'delete',
    path: `${path}/:id`,
    access,
    operationId: 'deletePlatformConnection',
    tag,
    summary: 'Delete a stored connection',
    params,
    responses: { 200: Success },
    handler: ({ params: { id } }) => connections.delete(id),
  })

const testPlatformConnection = (connections: PlatformConnectionStore) =>
  route({
    method: 'post',
    path: `${path}/:id/test`,
    access,
    operationId: 'testPlatformConnection',
    tag,
    summary: 'Test a connection of the platform',
    notes: 'Lists the models of the provider. A failed test answers 200 with `success` false.',
    params,
    responses: { 200: ConnectionTest },
    handler: ({ params: { id } }) => connections.test(id),
  })

const updatePlatformConnectionKey = (connections: PlatformConnectionStore) =>
  route({
    method: 'post',
    path: `${path}/:id/update-key`,
    access,
    operationId: 'updatePlatformConnectionKey',
    tag,
    summary: 'Replace the key of a stored connection',
    params,
    body: NewSecret,
    examples: { 'A new key': { api_key } },
    responses: { 200: Success },
    handler: ({ params: { id }, body }) => connections.updateKey(id, body.api_key),
  })
