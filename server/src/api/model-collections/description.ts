import { describeRoute } from 'hono-openapi'
import { ChangedCollection, Collection, CollectionList, NewCollection, NewMembers } from './schema'
import {
  accepts,
  answers,
  Deleted,
  documented,
  idParameter,
  keyErrors,
} from '../../http/documentation'

const about = { tags: ['Model collections'], security: [{ apiKey: [] }] }

export const listModelCollections = describeRoute({
  ...about,
  operationId: 'listModelCollections',
  summary: "Your collections, those of your organizations and the system's",
  parameters: [
    {
      name: 'scope',
      in: 'query',
      schema: { type: 'string', enum: ['individual', 'organization', 'system'] },
    },
  ],
  responses: {
    ...answers(200, 'The collections', CollectionList),
    ...documented('invalid_request', ...keyErrors),
  },
})

export const createModelCollection = describeRoute({
  ...about,
  operationId: 'createModelCollection',
  summary: 'Give several models one name',
  requestBody: accepts('NewModelCollection', NewCollection, {
    'One after the other': {
      name: 'steady',
      members: ['sandbox/echo', 'sandbox/lorem'],
    },
    'Drawn by weight': {
      name: 'mixed',
      routing_strategy: 'weighted',
      members: [
        { model_id: 'sandbox/echo', weight: 3 },
        { model_id: 'sandbox/lorem', weight: 1 },
      ],
    },
  }),
  responses: {
    ...answers(201, 'The new collection', Collection),
    ...documented('invalid_request', 'model_not_found', 'resource_not_found', ...keyErrors),
  },
})

export const changeModelCollection = describeRoute({
  ...about,
  operationId: 'changeModelCollection',
  parameters: [idParameter('a collection')],
  summary: 'Change a collection; members replace all that are there',
  requestBody: accepts('ChangedModelCollection', ChangedCollection, {
    'Another order': { routing_strategy: 'lowest_latency' },
  }),
  responses: {
    ...answers(200, 'The collection', Collection),
    ...documented('invalid_request', 'model_not_found', 'resource_not_found', ...keyErrors),
  },
})

export const deleteModelCollection = describeRoute({
  ...about,
  operationId: 'deleteModelCollection',
  parameters: [idParameter('a collection')],
  summary: 'Delete a collection',
  responses: {
    ...answers(200, 'It was deleted', Deleted),
    ...documented('resource_not_found', ...keyErrors),
  },
})

export const addModelCollectionMembers = describeRoute({
  ...about,
  operationId: 'addModelCollectionMembers',
  parameters: [idParameter('a collection')],
  summary: 'Add one model to a collection, or several',
  requestBody: accepts('NewModelCollectionMembers', NewMembers, {
    'One model': { model_id: 'sandbox/lorem' },
  }),
  responses: {
    ...answers(201, 'The collection', Collection),
    ...documented('invalid_request', 'model_not_found', 'resource_not_found', ...keyErrors),
  },
})
