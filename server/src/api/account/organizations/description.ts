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
import { OrganizationTrail, OrganizationTrailFilter } from './trail-schema'
import { OrganizationUsage, UsageFilters } from './usage-schema'
import { accountRoute, Done, paging } from '../../../http/documentation'

const tag = 'Organizations'
const path = ['id'] as const
const ofMember = ['id', 'user_id'] as const

/** The OpenAPI descriptions of this group's routes. */
export const described = {
  listOrganizations: accountRoute({
    operationId: 'listOrganizations',
    summary: 'Your organizations, also those that you wait to be let into',
    tag,
    answer: OrganizationList,
  }),
  createOrganization: accountRoute({
    operationId: 'createOrganization',
    summary: 'Make an organization that you own',
    tag,
    status: 201,
    answer: Organization,
    body: ['NewOrganization', NewOrganization, { 'A company': { name: 'Example Ltd' } }],
  }),
  getOrganization: accountRoute({
    operationId: 'getOrganization',
    summary: 'One organization that you are active in',
    tag,
    answer: Organization,
    path,
  }),
  changeOrganization: accountRoute({
    operationId: 'changeOrganization',
    summary: 'Change an organization, as its owner or admin; its slug only as its owner',
    tag,
    answer: Organization,
    path,
    body: [
      'ChangedOrganization',
      ChangedOrganization,
      { 'Open to requests': { is_public: true, allow_join_requests: true } },
    ],
  }),
  deleteOrganization: accountRoute({
    operationId: 'deleteOrganization',
    summary: 'Delete an organization that you own, with its connections; its pool must be empty',
    tag,
    answer: Done,
    path,
  }),
  joinOrganization: accountRoute({
    operationId: 'joinOrganization',
    summary: 'Ask a public organization to let you in',
    tag,
    status: 201,
    answer: Member,
    path,
    body: ['JoinRequest', JoinRequest, { 'A request': { message: 'I work with you.' } }],
  }),
  listMembers: accountRoute({
    operationId: 'listMembers',
    summary: 'The members of an organization',
    tag,
    answer: MemberList,
    path,
    query: [...Object.keys(MemberFilters.shape), 'search', ...paging],
  }),
  changeMember: accountRoute({
    operationId: 'changeMember',
    summary: 'Approve, suspend or restore a member, change its role, or hand over ownership',
    tag,
    answer: Member,
    path: ofMember,
    body: ['ChangedMember', ChangedMember, { 'Let somebody in': { status: 'active' } }],
  }),
  removeMember: accountRoute({
    operationId: 'removeMember',
    summary: 'Remove a member, refuse a request to join, or leave',
    tag,
    answer: Done,
    path: ofMember,
  }),
  getUsage: accountRoute({
    operationId: 'getOrganizationUsage',
    summary: 'What members used of the connections and the pool of an organization',
    tag,
    answer: OrganizationUsage,
    path,
    query: Object.keys(UsageFilters.shape),
  }),
  getAuditTrail: accountRoute({
    operationId: 'getOrganizationAuditTrail',
    summary: 'What was changed in an organization and by whom, for its owner and admins',
    tag,
    answer: OrganizationTrail,
    path,
    query: [...Object.keys(OrganizationTrailFilter.shape), ...paging],
  }),
}
