import {
  ChangedConnection,
  Connection,
  ConnectionList,
  ConnectionModel,
  ConnectionModelList,
  ConnectionTest,
  Filters,
  NewConnection,
  NewSecret,
  SetPrice,
} from './schema'
import { accountRoute, Done, paging } from '../../../http/documentation'

const tag = 'Connections'
const path = ['id'] as const
const free = { model: 'fake/mine', pricing: null }
const priced = { ...free, pricing: { input: 0.5, output: 1.5 } }
const own = { name: 'My key', provider: 'anthropic', api_key: 'sk-ant-...' }

/** The OpenAPI descriptions of this group's routes. */
export const described = {
  listConnections: accountRoute({
    operationId: 'listConnections',
    summary: 'Your connections, and those of your organizations',
    tag,
    answer: ConnectionList,
    query: [...Object.keys(Filters.shape), ...paging],
  }),
  createConnection: accountRoute({
    operationId: 'createConnection',
    summary: 'Connect a provider by your own key',
    tag,
    status: 201,
    answer: Connection,
    body: ['NewConnection', NewConnection, { 'Your own key': own }],
    errors: ['resource_not_found'],
  }),
  getConnection: accountRoute({
    operationId: 'getConnection',
    summary: 'One connection',
    tag,
    answer: Connection,
    path,
  }),
  changeConnection: accountRoute({
    operationId: 'changeConnection',
    summary: 'Change a connection; a new address discards the key that was given for the old one',
    tag,
    answer: Connection,
    path,
    body: ['ChangedConnection', ChangedConnection, { 'Come first': { is_default: true } }],
  }),
  deleteConnection: accountRoute({
    operationId: 'deleteConnection',
    summary: 'Delete a connection; it leaves its pools too',
    tag,
    answer: Done,
    path,
  }),
  testConnection: accountRoute({
    operationId: 'testConnection',
    summary: 'Ask the provider for its models',
    tag,
    answer: ConnectionTest,
    path,
  }),
  updateConnectionKey: accountRoute({
    operationId: 'updateConnectionKey',
    summary: 'Give a connection another key',
    tag,
    answer: Done,
    path,
    body: ['NewSecret', NewSecret, { 'Another key': { api_key: 'sk-ant-...' } }],
  }),
  listConnectionModels: accountRoute({
    operationId: 'listConnectionModels',
    summary: 'What may be called by a connection, and what it costs',
    tag,
    answer: ConnectionModelList,
    path,
    query: [...paging],
  }),
  setConnectionModelPrice: accountRoute({
    operationId: 'setConnectionModelPrice',
    summary: 'Set what a model costs that only this connection has',
    tag,
    answer: ConnectionModel,
    path,
    body: ['SetPrice', SetPrice, { 'USD per 1,000,000 tokens': priced, Free: free }],
  }),
}
