import { z } from 'zod'
import { AnyScimDirectoryList } from './schema'
import type { AnyScimDirectoryStore } from './store'
import {
  ChangedInstallationDirectory,
  NewInstallationDirectory,
  ScimDirectory,
  ScimDirectoryWithToken,
} from '../../account/scim-directories/schema'
import { operator } from '../../../http/access'
import { Success, objectId } from '../../../http/answers'
import { pageFields, toPage } from '../../../http/paging'
import { route, type Route } from '../../../http/route'

const tag = 'SCIM'
const access = operator()
const path = '/api/admin/scim-directories'
const params = { id: objectId('dir').describe('ID of the directory') }

/** SCIM directories, for operators. Source: contract 2.6. */
export const anyScimDirectoryRoutes = (directories: AnyScimDirectoryStore): Route[] => [
  listAllScimDirectories(directories),
  createInstallationDirectory(directories),
  changeAnyScimDirectory(directories),
  replaceAnyScimToken(directories),
  deleteAnyScimDirectory(directories),
]

const listAllScimDirectories = (directories: AnyScimDirectoryStore) =>
  route({
    method: 'get',
    path,
    access: operator({ roles: ['read_only'] }),
    operationId: 'listAllScimDirectories',
    tag,
    summary: 'List SCIM directories',
    notes: 'Directories of the installation and of organizations, newest first.',
    query: z.object(pageFields),
    responses: { 200: AnyScimDirectoryList },
    handler: ({ query }) => directories.list(toPage(query, 'scim-directories')),
  })

const createInstallationDirectory = (directories: AnyScimDirectoryStore) =>
  route({
    method: 'post',
    path,
    access,
    operationId: 'createInstallationDirectory',
    tag,
    summary: 'Create a SCIM directory of the installation',
    notes: 'An identity provider creates users and groups with its token.',
    body: NewInstallationDirectory,
    examples: { 'For a domain': { name: 'Entra ID', domains: ['example.com'] } },
    responses: { 201: ScimDirectoryWithToken },
    handler: ({ body }) => directories.create(body),
  })

const changeAnyScimDirectory = (directories: AnyScimDirectoryStore) =>
  route({
    method: 'put',
    path: `${path}/:id`,
    access,
    operationId: 'changeAnyScimDirectory',
    tag,
    summary: 'Update a SCIM directory',
    notes:
      'Also one of an organization: list only domains whose addresses that organization gives out. `groups` replaces all of them, and changes the memberships that they make at once.',
    params,
    body: ChangedInstallationDirectory,
    examples: { 'Another domain': { domains: ['example.com', 'example.org'] } },
    responses: { 200: ScimDirectory },
    handler: ({ params: { id }, body }) => directories.change(id, body),
  })

const replaceAnyScimToken = (directories: AnyScimDirectoryStore) =>
  route({
    method: 'post',
    path: `${path}/:id/token`,
    access,
    operationId: 'replaceAnyScimToken',
    tag,
    summary: 'Replace the token of a SCIM directory',
    notes: 'The token before is invalid at once.',
    params,
    responses: { 200: ScimDirectoryWithToken },
    handler: ({ params: { id } }) => directories.replaceToken(id),
  })

const deleteAnyScimDirectory = (directories: AnyScimDirectoryStore) =>
  route({
    method: 'delete',
    path: `${path}/:id`,
    access,
    operationId: 'deleteAnyScimDirectory',
    tag,
    summary: 'Delete a SCIM directory',
    notes: 'The accounts and memberships that it has made stay as they are.',
    params,
    responses: { 200: Success },
    handler: ({ params: { id } }) => directories.delete(id),
  })
