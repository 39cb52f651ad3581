import { z } from 'zod'
import {
  ChangedSystemCollection,
  Collection,
  NewSystemCollection,
} from '../../account/model-collections/schema'
import type { CollectionStore } from '../../account/model-collections/store'
import { operator } from '../../../http/access'
import { Success, objectId } from '../../../http/answers'
import { pageFields, Pagination, toPage } from '../../../http/paging'
import { searchText } from '../../../http/query'
import { route, type Route } from '../../../http/route'

const tag = 'Collections'
const access = operator()
const path = '/api/admin/collections'
const params = { id: objectId('coll').describe('ID of the collection') }

const CollectionFilter = z.object({
  search: searchText('Text in the name, the display name or the description'),
  ...pageFields,
})

const SystemCollectionList = z
  .object({ collections: z.array(Collection), pagination: Pagination })
  .meta({ ref: 'SystemCollectionList' })

/** Collections for every account, for the operator. Source: contract 9.2. */
export const systemCollectionRoutes = (collections: CollectionStore): Route[] => [
  listSystemCollections(collections),
  createSystemCollection(collections),
  changeSystemCollection(collections),
  deleteSystemCollection(collections),
]

const listSystemCollections = (collections: CollectionStore) =>
  route({
    method: 'get',
    path,
    access: operator({ roles: ['read_only'] }),
    operationId: 'listSystemCollections',
    tag,
    summary: 'List collections for every account',
    query: CollectionFilter,
    responses: { 200: SystemCollectionList },
    handler: ({ query }) =>
      collections.listSystem(toPage(query, `collections ${query.search ?? ''}`), query.search),
  })

const createSystemCollection = (collections: CollectionStore) =>
  route({
    method: 'post',
    path,
    access,
    operationId: 'createSystemCollection',
    tag,
    summary: 'Create a collection for every account',
    body: NewSystemCollection,
    examples: {
      'Lowest latency first': {
        name: 'fast',
        routing_strategy: 'lowest_latency',
        members: ['groq/a', 'openai/b'],
      },
    },
    responses: { 201: Collection },
    errors: ['model_not_found'],
    handler: ({ body }) => collections.create('operator', body),
  })

const changeSystemCollection = (collections: CollectionStore) =>
  route({
    method: 'put',
    path: `${path}/:id`,
    access,
    operationId: 'changeSystemCollection',
    tag,
    summary: 'Update a collection for every account',
    params,
    body: ChangedSystemCollection,
    examples: { Disable: { enabled: false } },
    responses: { 200: Collection },
    errors: ['model_not_found'],
    handler: ({ params: { id }, body }) => collections.change('operator', id, body),
  })

const deleteSystemCollection = (collections: CollectionStore) =>
  route({
    method: 'delete',
    path: `${path}/:id`,
    access,
    operationId: 'deleteSystemCollection',
    tag,
    summary: 'Delete a collection for every account',
    params,
    responses: { 200: Success },
    handler: ({ params: { id } }) => collections.delete('operator', id),
  })
