import { ChangedPool, NewPool, Pool, PoolFilters, PoolList } from './schema'
import { accountRoute, Done, paging } from '../../../http/documentation'

const tag = 'Connections'
const path = ['id'] as const
const two = {
  name: 'Both keys',
  provider: 'anthropic',
  connection_ids: ['conn_01m7zbr7rr3rrzfbtxk7716g95', 'conn_01m7zbr7rr3rrzfbtxk7716g96'],
}

/** The OpenAPI descriptions of this group's routes. */
export const described = {
  listConnectionPools: accountRoute({
    operationId: 'listConnectionPools',
    summary: 'Your pools, and those of your organizations',
    tag,
    answer: PoolList,
    query: [...Object.keys(PoolFilters.shape), ...paging],
  }),
  createConnectionPool: accountRoute({
    operationId: 'createConnectionPool',
    summary: 'Have connections of one provider take turns',
    tag,
    status: 201,
    answer: Pool,
    body: ['NewConnectionPool', NewPool, { 'Two keys': two }],
    errors: ['resource_not_found'],
  }),
  getConnectionPool: accountRoute({
    operationId: 'getConnectionPool',
    summary: 'One pool',
    tag,
    answer: Pool,
    path,
  }),
  changeConnectionPool: accountRoute({
    operationId: 'changeConnectionPool',
    summary: 'Change a pool; its connections are replaced as a whole',
    tag,
    answer: Pool,
    path,
    body: ['ChangedConnectionPool', ChangedPool, { 'In order': { strategy: 'priority' } }],
  }),
  deleteConnectionPool: accountRoute({
    operationId: 'deleteConnectionPool',
    summary: 'Delete a pool; its connections stay',
    tag,
    answer: Done,
    path,
  }),
}
