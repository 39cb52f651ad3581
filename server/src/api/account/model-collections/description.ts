import { ChangedCollection, Collection, CollectionList, NewCollection, NewMembers } from './schema'
import { accountRoute, Done } from '../../../http/documentation'

const tag = 'Model collections'

export const listModelCollections = accountRoute({
  operationId: 'listModelCollections',
  summary: "Your collections, those of your organizations and the system's",
  tag,
  query: ['scope'],
  answer: CollectionList,
})

export const createModelCollection = accountRoute({
  operationId: 'createModelCollection',
  summary: 'Give several models one name',
  tag,
  status: 201,
  body: [
    'NewModelCollection',
    NewCollection,
    {
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
  ],
  answer: Collection,
  errors: ['model_not_found', 'resource_not_found'],
})

export const changeModelCollection = accountRoute({
  operationId: 'changeModelCollection',
  summary: 'Change a collection; members replace all that are there',
  tag,
  path: ['id'],
  body: [
    'ChangedModelCollection',
    ChangedCollection,
    { 'Another order': { routing_strategy: 'lowest_latency' } },
  ],
  answer: Collection,
  errors: ['model_not_found'],
})

export const deleteModelCollection = accountRoute({
  operationId: 'deleteModelCollection',
  summary: 'Delete a collection',
  tag,
  path: ['id'],
  answer: Done,
})

export const addModelCollectionMembers = accountRoute({
  operationId: 'addModelCollectionMembers',
  summary: 'Add one model to a collection, or several',
  tag,
  status: 201,
  path: ['id'],
  body: ['NewModelCollectionMembers', NewMembers, { 'One model': { model_id: 'sandbox/lorem' } }],
  answer: Collection,
  errors: ['model_not_found'],
})
