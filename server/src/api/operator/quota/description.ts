import {
  DecidedQuotaRequest,
  DecidedQuotaRequestList,
  Decision,
  Rejection,
} from '../../account/quota/schema'
import { operatorRoute, paging } from '../../../http/documentation'

const tag = 'Quota requests'
const path = ['id'] as const

export const described = {
  list: operatorRoute({
    operationId: 'listAllQuotaRequests',
    summary: 'Requests for higher limits, newest first',
    tag,
    query: ['search', 'status', ...paging],
    answer: DecidedQuotaRequestList,
  }),
  approve: operatorRoute({
    operationId: 'approveQuotaRequest',
    summary: 'Grant a request for a higher limit, or a part of it',
    tag,
    path,
    answer: DecidedQuotaRequest,
    body: ['Decision', Decision, { 'Less than was asked for': { limit: 600, note: 'For now.' } }],
  }),
  reject: operatorRoute({
    operationId: 'rejectQuotaRequest',
    summary: 'Refuse a request for a higher limit',
    tag,
    path,
    answer: DecidedQuotaRequest,
    body: ['Rejection', Rejection, { 'With a reason': { note: 'Not on this plan.' } }],
  }),
}
