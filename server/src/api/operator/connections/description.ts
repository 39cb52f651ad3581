import {
  ChangedPlatformConnection,
  ConnectionTest,
  NewPlatformConnection,
  NewSecret,
  PlatformConnection,
  PlatformConnectionList,
} from '../../account/connections/schema'
import { Done, operatorRoute, paging } from '../../../http/documentation'

const tag = 'Connections'
const path = ['id'] as const
const api_key = 'sk-ant-...'

export const described = {
  list: operatorRoute({
    operationId: 'listPlatformConnections',
    summary: 'Stored connections of the platform, then those that come by themselves',
    tag,
    query: ['search', ...paging],
    answer: PlatformConnectionList,
  }),
  create: operatorRoute({
    operationId: 'createPlatformConnection',
    summary: 'Connect a provider for every account',
    tag,
    status: 201,
    answer: PlatformConnection,
    body: [
      'NewPlatformConnection',
      NewPlatformConnection,
      { 'By a key': { name: 'Main', provider: 'anthropic', api_key } },
    ],
  }),
  get: operatorRoute({
    operationId: 'getPlatformConnection',
    summary: 'One connection of the platform',
    tag,
    path,
    answer: PlatformConnection,
  }),
  change: operatorRoute({
    operationId: 'changePlatformConnection',
    summary: 'Change a stored connection; a new address discards its key',
    tag,
    path,
    answer: PlatformConnection,
    body: ['ChangedPlatformConnection', ChangedPlatformConnection, { First: { priority: 1 } }],
  }),
  delete: operatorRoute({
    operationId: 'deletePlatformConnection',
    summary: 'Delete a stored connection',
    tag,
    path,
    answer: Done,
  }),
  test: operatorRoute({
    operationId: 'testPlatformConnection',
    summary: 'Ask the provider for its models',
    tag,
    path,
    answer: ConnectionTest,
  }),
  updateKey: operatorRoute({
    operationId: 'updatePlatformConnectionKey',
    summary: 'Give a stored connection another key',
    tag,
    path,
    answer: Done,
    body: ['NewSecret', NewSecret, { 'Another key': { api_key } }],
  }),
}
