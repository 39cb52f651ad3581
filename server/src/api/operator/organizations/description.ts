import { AnsweredOrganization, AnsweredOrganizationList, OperatedOrganization } from './schema'
import { Done, operatorRoute, paging } from '../../../http/documentation'

const tag = 'Organizations'
const path = ['id'] as const

export const described = {
  list: operatorRoute({
    operationId: 'listAllOrganizations',
    summary: 'All organizations, newest first',
    tag,
    query: ['search', ...paging],
    answer: AnsweredOrganizationList,
  }),
  get: operatorRoute({
    operationId: 'getAnyOrganization',
    summary: 'One organization',
    tag,
    path,
    answer: AnsweredOrganization,
  }),
  change: operatorRoute({
    operationId: 'changeAnyOrganization',
    summary: 'Change an organization, its plan or its limits',
    tag,
    path,
    answer: AnsweredOrganization,
    body: ['OperatedOrganization', OperatedOrganization, { 'Room for more': { member_limit: 50 } }],
  }),
  delete: operatorRoute({
    operationId: 'deleteAnyOrganization',
    summary: 'Delete an organization whose pool is empty',
    tag,
    path,
    answer: Done,
  }),
}
