import { describeRoute } from 'hono-openapi'
import { ChangedMapping, Mapping, MappingList, NewMapping, NewPreview, Preview } from './schema'
import {
  accepts,
  answers,
  Deleted,
  documented,
  idParameter,
  keyErrors,
  pageParameters,
} from '../../http/documentation'

const about = { tags: ['Model mappings'], security: [{ apiKey: [] }] }

const example = {
  'A name that a client insists on': {
    source_pattern: 'gpt-4o',
    target_model: 'sandbox/echo',
  },
  'Whatever begins so': { source_pattern: 'gpt-*', target_model: 'sandbox/$1' },
}

export const listModelMappings = describeRoute({
  ...about,
  operationId: 'listModelMappings',
  summary: 'Your mappings, in the order in which they are applied',
  parameters: [
    {
      name: 'enabled',
      in: 'query',
      description: 'Only those that are, or are not',
      schema: { type: 'boolean' },
    },
    ...pageParameters,
  ],
  responses: {
    ...answers(200, 'The mappings', MappingList),
    ...documented('invalid_request', ...keyErrors),
  },
})

export const createModelMapping = describeRoute({
  ...about,
  operationId: 'createModelMapping',
  summary: 'Have calls for one name go to another',
  requestBody: accepts('NewModelMapping', NewMapping, example),
  responses: {
    ...answers(201, 'The new mapping', Mapping),
    ...documented('invalid_request', 'model_not_found', ...keyErrors),
  },
})

export const previewModelMapping = describeRoute({
  ...about,
  operationId: 'previewModelMapping',
  summary: 'What a call for a model would get; changes nothing',
  requestBody: accepts('NewModelMappingPreview', NewPreview, {
    'A name': { model: 'gpt-4o' },
  }),
  responses: {
    ...answers(200, 'What a call would get', Preview),
    ...documented('invalid_request', ...keyErrors),
  },
})

export const changeModelMapping = describeRoute({
  ...about,
  operationId: 'changeModelMapping',
  parameters: [idParameter('a mapping')],
  summary: 'Change a mapping',
  requestBody: accepts('ChangedModelMapping', ChangedMapping, {
    'Switch it off': { enabled: false },
  }),
  responses: {
    ...answers(200, 'The mapping', Mapping),
    ...documented('invalid_request', 'model_not_found', 'resource_not_found', ...keyErrors),
  },
})

export const deleteModelMapping = describeRoute({
  ...about,
  operationId: 'deleteModelMapping',
  parameters: [idParameter('a mapping')],
  summary: 'Delete a mapping',
  responses: {
    ...answers(200, 'It was deleted', Deleted),
    ...documented('resource_not_found', ...keyErrors),
  },
})
