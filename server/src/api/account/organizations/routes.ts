import type { MemberStore } from './members'
import {
  ChangedMember,
  ChangedOrganization,
  JoinRequest,
  Member,
  MemberFilters,
  MemberList,
  NewOrganization,
  Organization,
  OrganizationList,
} from './schema'
import type { OrganizationStore } from './store'
import type { OrganizationTrailStore } from './trail'
import { OrganizationEntryLine, OrganizationTrail, OrganizationTrailFilter } from './trail-schema'
import type { OrganizationUsageStore } from './usage'
import { OrganizationUsage, UsageFilters } from './usage-schema'
import { account } from '../../../http/access'
import { Success, objectId } from '../../../http/answers'
import { answerLines } from '../../../http/download'
import { pageFields, toPage } from '../../../http/paging'
import { searchText } from '../../../http/query'
import { route, type Route } from '../../../http/route'

export interface OrganizationStores {
  organizations: OrganizationStore
  members: MemberStore
  organizationUsage: OrganizationUsageStore
  organizationTrail: OrganizationTrailStore
}

const tag = 'Organizations'
const path = '/api/organizations'
const params = { id: objectId('org').describe('ID of the organization') }
const memberPath = `${path}/:id/members/:user_id` as const
const memberParams = { ...params, user_id: objectId('user').describe("ID of the member's account") }

const reading = account('read', { tenant: 'organization' })
const managing = account('admin', { tenant: 'organization' })

/** Organizations and their members. Source: contract 7.4. */
export const organizationRoutes = (stores: OrganizationStores): Route[] => [
  listOrganizations(stores.organizations),
  createOrganization(stores.organizations),
  getOrganization(stores.organizations),
  changeOrganization(stores.organizations),
  deleteOrganization(stores.organizations),
  joinOrganization(stores.members),
  listMembers(stores.members),
  changeMember(stores.members),
  removeMember(stores.members),
  getUsage(stores.organizationUsage),
  getAuditTrail(stores.organizationTrail),
  exportAuditTrail(stores.organizationTrail),
]

const listOrganizations = (organizations: OrganizationStore) =>
  route({
    method: 'get',
    path,
    access: reading,
    operationId: 'listOrganizations',
    tag,
    summary: 'List your organizations',
    notes:
      'Each with your role and the status of your membership, also those that have not approved your request to join yet.',
    responses: { 200: OrganizationList },
    handler: ({ principal }) => organizations.list(principal),
  })

const createOrganization = (organizations: OrganizationStore) =>
  route({
    method: 'post',
    path,
    access: managing,
    operationId: 'createOrganization',
    tag,
    summary: 'Create an organization',
    notes:
      'You become its owner; an account can own one organization. Without `slug` it is derived from the name.',
    body: NewOrganization,
    examples: { 'A company': { name: 'Example Ltd' } },
    responses: { 201: Organization },
    handler: ({ principal, body }) => organizations.create(principal, body),
  })

const getOrganization = (organizations: OrganizationStore) =>
  route({
    method: 'get',
    path: `${path}/:id`,
    access: reading,
    operationId: 'getOrganization',
    tag,
    summary: 'Get an organization',
    notes: 'For active members. Only owners and admins see its credit.',
    params,
    responses: { 200: Organization },
    handler: ({ principal, params: { id } }) => organizations.get(principal, id),
  })

const changeOrganization = (organizations: OrganizationStore) =>
  route({
    method: 'put',
    path: `${path}/:id`,
    access: managing,
    operationId: 'changeOrganization',
    tag,
    summary: 'Update an organization',
    notes:
      'For owners and admins; only the owner can change the slug. Rate limits can be at most those of the plan.',
    params,
    body: ChangedOrganization,
    examples: { 'Open to requests': { is_public: true, allow_join_requests: true } },
    responses: { 200: Organization },
    handler: ({ principal, params: { id }, body }) => organizations.change(principal, id, body),
  })

const deleteOrganization = (organizations: OrganizationStore) =>
  route({
    method: 'delete',
    path: `${path}/:id`,
    access: managing,
    operationId: 'deleteOrganization',
    tag,
    summary: 'Delete an organization',
    notes:
      'For its owner. Deletes its connections too. Rejected while its pool has credit or requests run on it.',
    params,
    responses: { 200: Success },
    handler: ({ principal, params: { id } }) => organizations.delete(principal, id),
  })

const joinOrganization = (members: MemberStore) =>
  route({
    method: 'post',
    path: `${path}/:id/join`,
    access: managing,
    operationId: 'joinOrganization',
    tag,
    summary: 'Request to join an organization',
    notes:
      'The organization must be public and accept requests. The membership is pending until an owner or admin approves it, unless the organization approves requests automatically.',
    params,
    body: JoinRequest,
    examples: { 'A request': { message: 'I work with you.' } },
    responses: { 201: Member },
    handler: ({ principal, params: { id }, body }) => members.join(principal, id, body.message),
  })

const listMembers = (members: MemberStore) =>
  route({
    method: 'get',
    path: `${path}/:id/members`,
    access: managing,
    operationId: 'listMembers',
    tag,
    summary: 'List the members of an organization',
    notes:
      'Owners and admins see the addresses and the spending of all members, others only theirs.',
    params,
    query: MemberFilters.extend({
      search: searchText('Text in the name or, for owners and admins, the address'),
      ...pageFields,
    }),
    responses: { 200: MemberList },
    handler({ principal, params: { id }, query: { limit, offset, cursor, search, ...filters } }) {
      const scope = `members ${principal.userId} ${id} ${JSON.stringify({ filters, search })}`
      const page = toPage({ limit, offset, cursor }, scope)
      return members.list(principal, id, { filters, search, page })
    },
  })

const changeMember = (members: MemberStore) =>
  route({
    method: 'put',
    path: memberPath,
    access: managing,
    operationId: 'changeMember',
    tag,
    summary: 'Update a member',
    notes:
      'Approves, suspends or reinstates a member, changes the role, or transfers the ownership. For owners and admins, who cannot assign a role above their own. `role: "owner"`, by the owner, transfers the ownership; the former owner becomes admin.',
    params: memberParams,
    body: ChangedMember,
    examples: { 'Approve a request': { status: 'active' } },
    responses: { 200: Member },
    handler: ({ principal, params: { id, user_id: userId }, body }) =>
      members.change(principal, { id, userId }, body),
  })

const removeMember = (members: MemberStore) =>
  route({
    method: 'delete',
    path: memberPath,
    access: managing,
    operationId: 'removeMember',
    tag,
    summary: 'Remove a member',
    notes:
      'Removes a member, rejects a request to join, or leaves with your own ID. The owner cannot leave. The organization stops paying for the member at once.',
    params: memberParams,
    responses: { 200: Success },
    handler: ({ principal, params: { id, user_id: userId } }) =>
      members.remove(principal, { id, userId }),
  })

const getUsage = (organizationUsage: OrganizationUsageStore) =>
  route({
    method: 'get',
    path: `${path}/:id/usage`,
    access: reading,
    operationId: 'getOrganizationUsage',
    tag,
    summary: 'Get the usage of an organization',
    notes:
      "The members' usage of its connections and its pool. Owners, admins and developers see all members, others themselves. The last 30 days by default.",
    params,
    query: UsageFilters,
    responses: { 200: OrganizationUsage },
    handler: ({ principal, params: { id }, query }) => organizationUsage.get(principal, id, query),
  })

const getAuditTrail = (organizationTrail: OrganizationTrailStore) =>
  route({
    method: 'get',
    path: `${path}/:id/audit-trail`,
    access: managing,
    operationId: 'getOrganizationAuditTrail',
    tag,
    summary: 'List the audit trail of an organization',
    notes: 'Changes within its retention, newest first. For owners and admins.',
    params,
    query: OrganizationTrailFilter.extend(pageFields),
    responses: { 200: OrganizationTrail },
    handler({ principal, params: { id }, query: { limit, offset, cursor, ...filter } }) {
      const scope = `trail ${principal.userId} ${id} ${JSON.stringify(filter)}`
      const page = toPage({ limit, offset, cursor }, scope)
      return organizationTrail.list(principal, id, { filter, page })
    },
  })

const exportAuditTrail = (organizationTrail: OrganizationTrailStore) =>
  route({
    method: 'get',
    path: `${path}/:id/audit-trail/export`,
    access: managing,
    operationId: 'exportOrganizationAuditTrail',
    tag,
    summary: 'Export the audit trail of an organization',
    notes: 'Oldest first. For owners and admins.',
    params,
    query: OrganizationTrailFilter,
    responses: {
      200: {
        description: 'One JSON object a line',
        content: { 'application/x-ndjson': OrganizationEntryLine },
      },
    },
    handler: async ({ c, principal, params: { id }, query }) =>
      answerLines(c, await organizationTrail.lines(principal, id, query)),
  })
