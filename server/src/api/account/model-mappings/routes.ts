import {
  ChangedMapping,
  Mapping,
  MappingFilter,
  MappingList,
  MappingPreview,
  NewMapping,
  NewPreview,
} from './schema'
import type { MappingStore } from './store'
import { account } from '../../../http/access'
import { Success, objectId } from '../../../http/answers'
import { pageFields, toPage } from '../../../http/paging'
import { route, type Route } from '../../../http/route'

const tag = 'Model mappings'
const path = '/api/user/model-mappings'
const params = { id: objectId('map').describe('ID of the mapping') }

/** Model mappings (aliases) of an account. Source: contract 7.6. */
export const mappingRoutes = (mappings: MappingStore): Route[] => [
  listModelMappings(mappings),
  createModelMapping(mappings),
  previewModelMapping(mappings),
  changeModelMapping(mappings),
  deleteModelMapping(mappings),
]

const listModelMappings = (mappings: MappingStore) =>
  route({
    method: 'get',
    path,
    access: account('read'),
    operationId: 'listModelMappings',
    tag,
    summary: 'List model mappings',
    notes:
      'In the order in which they apply: exact names first, then patterns by `priority`, length and age.',
    query: MappingFilter.extend(pageFields),
    responses: { 200: MappingList },
    handler({ principal: { userId }, query }) {
      const { enabled } = query
      return mappings.list(userId, toPage(query, `mappings ${userId} ${enabled ?? ''}`), enabled)
    },
  })

const createModelMapping = (mappings: MappingStore) =>
  route({
    method: 'post',
    path,
    access: account('write'),
    operationId: 'createModelMapping',
    tag,
    summary: 'Create a model mapping',
    notes:
      'An alias for your calls only. `*` matches any run of characters; `$1` to `$5` in the target insert the matches. The result of a mapping is not mapped again.',
    body: NewMapping,
    examples: {
      'A fixed name of a client': { source_pattern: 'gpt-4o', target_model: 'sandbox/echo' },
      'Every name with a prefix': { source_pattern: 'gpt-*', target_model: 'sandbox/$1' },
    },
    responses: { 201: Mapping },
    errors: ['model_not_found'],
    handler: ({ principal, body }) => mappings.create(principal.userId, body),
  })

const previewModelMapping = (mappings: MappingStore) =>
  route({
    method: 'post',
    path: `${path}/preview`,
    access: account('write'),
    operationId: 'previewModelMapping',
    tag,
    summary: 'Preview the model of a call',
    notes:
      'Changes nothing. `reason` is the code of the error that a call would get. `mapping` is tried before the stored ones.',
    body: NewPreview,
    examples: { 'A name': { model: 'gpt-4o' } },
    responses: { 200: MappingPreview },
    handler: ({ principal, body }) => mappings.preview(principal.userId, body),
  })

const changeModelMapping = (mappings: MappingStore) =>
  route({
    method: 'put',
    path: `${path}/:id`,
    access: account('write'),
    operationId: 'changeModelMapping',
    tag,
    summary: 'Update a model mapping',
    notes: 'Takes effect with the next call.',
    params,
    body: ChangedMapping,
    examples: { 'Switch it off': { enabled: false } },
    responses: { 200: Mapping },
    errors: ['model_not_found'],
    handler: ({ principal, params: { id }, body }) => mappings.change(principal.userId, id, body),
  })

const deleteModelMapping = (mappings: MappingStore) =>
  route({
    method: 'delete',
    path: `${path}/:id`,
    access: account('write'),
    operationId: 'deleteModelMapping',
    tag,
    summary: 'Delete a model mapping',
    notes: 'Takes effect with the next call.',
    params,
    responses: { 200: Success },
    handler: ({ principal, params: { id } }) => mappings.delete(principal.userId, id),
  })
