import {
  ChangedMapping,
  Mapping,
  MappingList,
  NewMapping,
  NewPreview,
  ShownPreview,
} from './schema'
import { accountRoute, Done, paging } from '../../../http/documentation'

const tag = 'Model mappings'

const example = {
  'A name that a client insists on': { source_pattern: 'gpt-4o', target_model: 'sandbox/echo' },
  'Whatever begins so': { source_pattern: 'gpt-*', target_model: 'sandbox/$1' },
}

export const listModelMappings = accountRoute({
  operationId: 'listModelMappings',
  summary: 'Your mappings, in the order in which they are applied',
  tag,
  query: ['enabled', ...paging],
  answer: MappingList,
})

export const createModelMapping = accountRoute({
  operationId: 'createModelMapping',
  summary: 'Have calls for one name go to another',
  tag,
  status: 201,
  body: ['NewModelMapping', NewMapping, example],
  answer: Mapping,
  errors: ['model_not_found'],
})

export const previewModelMapping = accountRoute({
  operationId: 'previewModelMapping',
  summary: 'What a call for a model would get; changes nothing',
  tag,
  body: ['NewModelMappingPreview', NewPreview, { 'A name': { model: 'gpt-4o' } }],
  answer: ShownPreview,
})

export const changeModelMapping = accountRoute({
  operationId: 'changeModelMapping',
  summary: 'Change a mapping',
  tag,
  path: ['id'],
  body: ['ChangedModelMapping', ChangedMapping, { 'Switch it off': { enabled: false } }],
  answer: Mapping,
  errors: ['model_not_found'],
})

export const deleteModelMapping = accountRoute({
  operationId: 'deleteModelMapping',
  summary: 'Delete a mapping',
  tag,
  path: ['id'],
  answer: Done,
})
