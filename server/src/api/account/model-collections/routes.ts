import {
  ChangedCollection,
  Collection,
  CollectionFilter,
  CollectionList,
  NewCollection,
  NewMembers,
} from './schema'
import type { CollectionStore } from './store'
import { account } from '../../../http/access'
import { Success, objectId } from '../../../http/answers'
import { route, type Route } from '../../../http/route'

const tag = 'Model collections'
const path = '/api/user/model-collections'
const writing = account('write', { tenant: 'organization' })
const params = { id: objectId('coll').describe('ID of the collection') }

/** Collections of models under one name. Source: contract 7.5. */
export const collectionRoutes = (collections: CollectionStore): Route[] => [
  listModelCollections(collections),
  createModelCollection(collections),
  changeModelCollection(collections),
  deleteModelCollection(collections),
  addModelCollectionMembers(collections),
]

const listModelCollections = (collections: CollectionStore) =>
  route({
    method: 'get',
    path,
    access: account('read', { tenant: 'organization' }),
    operationId: 'listModelCollections',
    tag,
    summary: 'List model collections',
    notes:
      'Yours, those of your organizations and those of the system. Clients call them as `collection/<name>`.',
    query: CollectionFilter,
    responses: { 200: CollectionList },
    handler: ({ principal, query: { scope } }) => collections.list(principal.userId, scope),
  })

const createModelCollection = (collections: CollectionStore) =>
  route({
    method: 'post',
    path,
    access: writing,
    operationId: 'createModelCollection',
    tag,
    summary: 'Create a model collection',
    notes:
      'Up to 200 members, each with `priority` and `weight`. `routing_strategy` selects the first candidate; the others are fallbacks.',
    body: NewCollection,
    examples: {
      'One after the other': { name: 'steady', members: ['sandbox/echo', 'sandbox/lorem'] },
      'Drawn by weight': {
        name: 'mixed',
        routing_strategy: 'weighted',
        members: [
          { model_id: 'sandbox/echo', weight: 3 },
          { model_id: 'sandbox/lorem', weight: 1 },
        ],
      },
    },
    responses: { 201: Collection },
    errors: ['model_not_found', 'resource_not_found'],
    handler: ({ principal: { userId }, body }) => collections.create({ userId }, body),
  })

const changeModelCollection = (collections: CollectionStore) =>
  route({
    method: 'put',
    path: `${path}/:id`,
    access: writing,
    operationId: 'changeModelCollection',
    tag,
    summary: 'Update a model collection',
    notes:
      '`members` replaces all members. The scope cannot be changed. Collections of the system are read-only.',
    params,
    body: ChangedCollection,
    examples: { 'Another order': { routing_strategy: 'lowest_latency' } },
    responses: { 200: Collection },
    errors: ['model_not_found'],
    handler: ({ principal: { userId }, params: { id }, body }) =>
      collections.change({ userId }, id, body),
  })

const deleteModelCollection = (collections: CollectionStore) =>
  route({
    method: 'delete',
    path: `${path}/:id`,
    access: writing,
    operationId: 'deleteModelCollection',
    tag,
    summary: 'Delete a model collection',
    notes: 'Calls by its name are 404 from then on.',
    params,
    responses: { 200: Success },
    handler: ({ principal: { userId }, params: { id } }) => collections.delete({ userId }, id),
  })

const addModelCollectionMembers = (collections: CollectionStore) =>
  route({
    method: 'post',
    path: `${path}/:id/members`,
    access: writing,
    operationId: 'addModelCollectionMembers',
    tag,
    summary: 'Add models to a collection',
    notes:
      'One model, or several: all of them, or none. Without `priority` a model is added after the last.',
    params,
    body: NewMembers,
    examples: { 'One model': { model_id: 'sandbox/lorem' } },
    responses: { 201: Collection },
    errors: ['model_not_found'],
    handler: ({ principal: { userId }, params: { id }, body }) =>
      collections.add({ userId }, id, body),
  })
