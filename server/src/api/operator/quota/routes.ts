import { z } from 'zod'
import type { QuotaRequestStore } from '../../account/quota/request-store'
import {
  DecidedQuotaRequest,
  DecidedQuotaRequestList,
  Decision,
  Rejection,
} from '../../account/quota/schema'
import { operator } from '../../../http/access'
import { objectId } from '../../../http/answers'
import { pageFields, toPage } from '../../../http/paging'
import { searchText } from '../../../http/query'
import { route, type Route } from '../../../http/route'

const tag = 'Quota requests'
const path = '/api/admin/quota-requests'
const params = { id: objectId('qreq').describe('ID of the quota request') }

const QuotaRequestFilter = z.object({
  status: z
    .enum(['pending', 'approved', 'rejected'])
    .optional()
    .describe('Only requests with this status'),
  search: searchText('Text in the e-mail address or the reason'),
  ...pageFields,
})

/** Requests for higher limits, for the operator. Source: contract 9.2. */
export const quotaRequestRoutes = (requests: QuotaRequestStore): Route[] => [
  listAllQuotaRequests(requests),
  approveQuotaRequest(requests),
  rejectQuotaRequest(requests),
]

const listAllQuotaRequests = (requests: QuotaRequestStore) =>
  route({
    method: 'get',
    path,
    access: operator({ roles: ['support', 'finance', 'read_only'] }),
    operationId: 'listAllQuotaRequests',
    tag,
    summary: 'List quota requests',
    notes: 'Newest first.',
    query: QuotaRequestFilter,
    responses: { 200: DecidedQuotaRequestList },
    handler: ({ query }) => {
      const { limit, offset, cursor, ...filter } = query
      const page = toPage({ limit, offset, cursor }, `quota requests ${JSON.stringify(filter)}`)
      return requests.list(page, filter)
    },
  })

const approveQuotaRequest = (requests: QuotaRequestStore) =>
  route({
    method: 'post',
    path: `${path}/:id/approve`,
    access: operator({ roles: ['finance'] }),
    operationId: 'approveQuotaRequest',
    tag,
    summary: 'Approve a quota request',
    notes: 'Grants the requested limit, or `limit`.',
    params,
    body: Decision,
    examples: { 'A lower limit': { limit: 600, note: 'For now.' } },
    responses: { 200: DecidedQuotaRequest },
    handler: ({ params: { id }, body }) => requests.approve(id, body),
  })

const rejectQuotaRequest = (requests: QuotaRequestStore) =>
  route({
    method: 'post',
    path: `${path}/:id/reject`,
    access: operator({ roles: ['finance'] }),
    operationId: 'rejectQuotaRequest',
    tag,
    summary: 'Reject a quota request',
    params,
    body: Rejection,
    examples: { 'With a reason': { note: 'Not on this plan.' } },
    responses: { 200: DecidedQuotaRequest },
    handler: ({ params: { id }, body }) => requests.reject(id, body.note ?? null),
  })
