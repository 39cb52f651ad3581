import {
  ChangedScimDirectory,
  NewScimDirectory,
  ScimDirectory,
  ScimDirectoryList,
  ScimDirectoryWithToken,
} from './schema'
import type { ScimDirectoryStore } from './store'
import { account } from '../../../http/access'
import { Success, objectId } from '../../../http/answers'
import { route, type Route } from '../../../http/route'

const tag = 'Organizations'
const path = '/api/organizations/:id/scim-directories'
const directoryPath = `${path}/:directory_id` as const

const params = { id: objectId('org').describe('ID of the organization') }
const directoryParams = {
  ...params,
  directory_id: objectId('dir').describe('ID of the directory'),
}

const managing = account('admin', { tenant: 'organization' })

/** SCIM directories of organizations. Source: contract 2.6. */
export const scimDirectoryRoutes = (directories: ScimDirectoryStore): Route[] => [
  listScimDirectories(directories),
  createScimDirectory(directories),
  changeScimDirectory(directories),
  replaceScimToken(directories),
  deleteScimDirectory(directories),
]

const listScimDirectories = (directories: ScimDirectoryStore) =>
  route({
    method: 'get',
    path,
    access: managing,
    operationId: 'listScimDirectories',
    tag,
    summary: 'List the SCIM directories of an organization',
    notes: 'Newest first. For owners and admins.',
    params,
    responses: { 200: ScimDirectoryList },
    handler: ({ principal, params: { id } }) => directories.list(principal, id),
  })

const createScimDirectory = (directories: ScimDirectoryStore) =>
  route({
    method: 'post',
    path,
    access: managing,
    operationId: 'createScimDirectory',
    tag,
    summary: 'Create a SCIM directory of an organization',
    notes:
      'For the owner. An identity provider creates users and groups with its token, once an operator has listed the domains of their addresses.',
    params,
    body: NewScimDirectory,
    examples: {
      'With a group': {
        name: 'Entra ID',
        groups: [{ group_name: 'Engineers', role: 'developer' }],
      },
    },
    responses: { 201: ScimDirectoryWithToken },
    handler: ({ principal, params: { id }, body }) => directories.create(principal, id, body),
  })

const changeScimDirectory = (directories: ScimDirectoryStore) =>
  route({
    method: 'put',
    path: directoryPath,
    access: managing,
    operationId: 'changeScimDirectory',
    tag,
    summary: 'Update a SCIM directory of an organization',
    notes:
      '`groups` replaces all of them, and changes the memberships that they make at once. Only the owner changes groups that make admins.',
    params: directoryParams,
    body: ChangedScimDirectory,
    examples: { 'A group': { groups: [{ group_name: 'Engineers', role: 'member' }] } },
    responses: { 200: ScimDirectory },
    handler: ({ principal, params: { id, directory_id: directoryId }, body }) =>
      directories.change(principal, { id, directoryId }, body),
  })

const replaceScimToken = (directories: ScimDirectoryStore) =>
  route({
    method: 'post',
    path: `${directoryPath}/token`,
    access: managing,
    operationId: 'replaceScimToken',
    tag,
    summary: 'Replace the token of a SCIM directory',
    notes: 'For the owner. The token before is invalid at once.',
    params: directoryParams,
    responses: { 200: ScimDirectoryWithToken },
    handler: ({ principal, params: { id, directory_id: directoryId } }) =>
      directories.replaceToken(principal, { id, directoryId }),
  })

const deleteScimDirectory = (directories: ScimDirectoryStore) =>
  route({
    method: 'delete',
    path: directoryPath,
    access: managing,
    operationId: 'deleteScimDirectory',
    tag,
    summary: 'Delete a SCIM directory of an organization',
    notes: 'For the owner. The accounts and memberships that it has made stay as they are.',
    params: directoryParams,
    responses: { 200: Success },
    handler: ({ principal, params: { id, directory_id: directoryId } }) =>
      directories.delete(principal, { id, directoryId }),
  })
