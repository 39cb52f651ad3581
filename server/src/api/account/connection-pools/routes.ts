import { ChangedPool, NewPool, Pool, PoolFilters, PoolList } from './schema'
import type { PoolStore } from './store'
import { account } from '../../../http/access'
import { Success, objectId } from '../../../http/answers'
import { pageFields, toPage } from '../../../http/paging'
import { route, type Route } from '../../../http/route'

const tag = 'Connections'
const path = '/api/connection-pools'
const reading = account('read', { tenant: 'organization' })
const writing = account('write', { tenant: 'organization' })
const params = { id: objectId('pool').describe('ID of the pool') }

/** Connection pools (load balancing across connections). Source: contract 7.2. */
export const poolRoutes = (pools: PoolStore): Route[] => [
  listConnectionPools(pools),
  createConnectionPool(pools),
  getConnectionPool(pools),
  changeConnectionPool(pools),
  deleteConnectionPool(pools),
]

const listConnectionPools = (pools: PoolStore) =>
  route({
    method: 'get',
    path,
    access: reading,
    operationId: 'listConnectionPools',
    tag,
    summary: 'List connection pools',
    notes:
      'Yours, and those of your organizations. Among the candidates of a request a pool takes the position of its first connection.',
    query: PoolFilters.extend(pageFields),
    responses: { 200: PoolList },
    handler({ principal, query: { limit, offset, cursor, ...filters } }) {
      const scope = `pools ${principal.userId} ${JSON.stringify(filters)}`
      return pools.list(principal, filters, toPage({ limit, offset, cursor }, scope))
    },
  })

const createConnectionPool = (pools: PoolStore) =>
  route({
    method: 'post',
    path,
    access: writing,
    operationId: 'createConnectionPool',
    tag,
    summary: 'Create a connection pool',
    notes:
      'Balances load across connections. All connections must have the same provider and the same owner.',
    body: NewPool,
    examples: {
      'Two keys': {
        name: 'Both keys',
        provider: 'anthropic',
        connection_ids: ['conn_01m7zbr7rr3rrzfbtxk7716g95', 'conn_01m7zbr7rr3rrzfbtxk7716g96'],
      },
    },
    responses: { 201: Pool },
    errors: ['resource_not_found'],
    handler: ({ principal, body }) => pools.create(principal, body),
  })

const getConnectionPool = (pools: PoolStore) =>
  route({
    method: 'get',
    path: `${path}/:id`,
    access: reading,
    operationId: 'getConnectionPool',
    tag,
    summary: 'Get a connection pool',
    notes: 'One of yours, or of an organization in which you are active.',
    params,
    responses: { 200: Pool },
    handler: ({ principal, params: { id } }) => pools.get(principal, id),
  })

const changeConnectionPool = (pools: PoolStore) =>
  route({
    method: 'put',
    path: `${path}/:id`,
    access: writing,
    operationId: 'changeConnectionPool',
    tag,
    summary: 'Update a connection pool',
    notes: '`connection_ids` replaces all connections. Provider and scope cannot be changed.',
    params,
    body: ChangedPool,
    examples: { 'In order': { strategy: 'priority' } },
    responses: { 200: Pool },
    handler: ({ principal, params: { id }, body }) => pools.change(principal, id, body),
  })

const deleteConnectionPool = (pools: PoolStore) =>
  route({
    method: 'delete',
    path: `${path}/:id`,
    access: writing,
    operationId: 'deleteConnectionPool',
    tag,
    summary: 'Delete a connection pool',
    notes: 'Its connections stay, and are candidates by their own order again.',
    params,
    responses: { 200: Success },
    handler: ({ principal, params: { id } }) => pools.delete(principal, id),
  })
