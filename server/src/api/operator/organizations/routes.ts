import {
  AnsweredOrganization,
  AnsweredOrganizationList,
  OperatedOrganization,
  OrganizationFilter,
} from './schema'
import type { OperatedOrganizationStore } from './store'
import { operator } from '../../../http/access'
import { Success, objectId } from '../../../http/answers'
import { toPage } from '../../../http/paging'
import { route, type Route } from '../../../http/route'

const tag = 'Organizations'
const access = operator()
const path = '/api/admin/organizations'
const params = { id: objectId('org').describe('ID of the organization') }

/** Organizations, for the operator. Source: contract 9.2. */
export const operatedOrganizationRoutes = (organizations: OperatedOrganizationStore): Route[] => [
  listAllOrganizations(organizations),
  getAnyOrganization(organizations),
  changeAnyOrganization(organizations),
  deleteAnyOrganization(organizations),
]

const listAllOrganizations = (organizations: OperatedOrganizationStore) =>
  route({
    method: 'get',
    path,
    access: operator({ roles: ['support', 'finance', 'read_only'] }),
    operationId: 'listAllOrganizations',
    tag,
    summary: 'List organizations',
    notes: 'Newest first.',
    query: OrganizationFilter,
    responses: { 200: AnsweredOrganizationList },
    handler: ({ query }) =>
      organizations.list(toPage(query, `organizations ${query.search ?? ''}`), query.search),
  })

const getAnyOrganization = (organizations: OperatedOrganizationStore) =>
  route({
    method: 'get',
    path: `${path}/:id`,
    access: operator({ roles: ['support', 'finance', 'read_only'] }),
    operationId: 'getAnyOrganization',
    tag,
    summary: 'Get an organization',
    params,
    responses: { 200: AnsweredOrganization },
    handler: ({ params: { id } }) => organizations.get(id),
  })

const changeAnyOrganization = (organizations: OperatedOrganizationStore) =>
  route({
    method: 'put',
    path: `${path}/:id`,
    access,
    operationId: 'changeAnyOrganization',
    tag,
    summary: 'Update an organization',
    notes: 'Sets its plan, its limits and its status too, which its owner cannot change.',
    params,
    body: OperatedOrganization,
    examples: { 'A higher member limit': { member_limit: 50 } },
    responses: { 200: AnsweredOrganization },
    handler: ({ params: { id }, body }) => organizations.change(id, body),
  })

const deleteAnyOrganization = (organizations: OperatedOrganizationStore) =>
  route({
    method: 'delete',
    path: `${path}/:id`,
    access,
    operationId: 'deleteAnyOrganization',
    tag,
    summary: 'Delete an organization',
    notes: 'Rejected while it has credit.',
    params,
    responses: { 200: Success },
    handler: ({ params: { id } }) => organizations.delete(id),
  })
