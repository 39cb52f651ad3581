import {
  ChangedCollection,
  Collection,
  NewSystemCollection,
} from '../../account/model-collections/schema'
import { z } from 'zod'
import { Done, operatorRoute, Pagination, paging } from '../../../http/documentation'

const tag = 'Collections'
const path = ['id'] as const
const example = {
  name: 'fast',
  routing_strategy: 'lowest_latency',
  members: ['groq/a', 'openai/b'],
}

const PagedCollections = z
  .object({ collections: z.array(Collection), pagination: Pagination })
  .meta({ ref: 'SystemCollectionList' })

export const described = {
  list: operatorRoute({
    operationId: 'listSystemCollections',
    summary: 'Collections that every account may call',
    tag,
    query: ['search', ...paging],
    answer: PagedCollections,
  }),
  create: operatorRoute({
    operationId: 'createSystemCollection',
    summary: 'Make a collection that every account may call',
    tag,
    status: 201,
    answer: Collection,
    body: ['NewSystemCollection', NewSystemCollection, { 'The fastest first': example }],
    errors: ['model_not_found'],
  }),
  change: operatorRoute({
    operationId: 'changeSystemCollection',
    summary: 'Change a collection that every account may call',
    tag,
    path,
    answer: Collection,
    body: ['ChangedCollection', ChangedCollection, { 'Switch it off': { enabled: false } }],
    errors: ['model_not_found'],
  }),
  delete: operatorRoute({
    operationId: 'deleteSystemCollection',
    summary: 'Delete a collection that every account may call',
    tag,
    path,
    answer: Done,
  }),
}
