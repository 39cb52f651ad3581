import {
  Estimate,
  History,
  NewEstimate,
  NewQuotaRequest,
  QuotaRequest,
  QuotaRequestList,
  QuotaStatus,
} from './schema'
import { accountRoute, paging } from '../../../http/documentation'

const tag = 'Quota'

export const getQuotaStatus = accountRoute({
  operationId: 'getQuotaStatus',
  summary: 'Your limits, and what is used of them now',
  tag,
  answer: QuotaStatus,
})

export const getQuotaHistory = accountRoute({
  operationId: 'getQuotaHistory',
  summary: 'What was used day by day, newest first',
  tag,
  query: ['start_date', 'end_date', 'granularity', ...paging],
  answer: History,
})

export const listQuotaRequests = accountRoute({
  operationId: 'listQuotaRequests',
  summary: 'Which higher limits you asked for, newest first',
  tag,
  query: paging,
  answer: QuotaRequestList,
})

export const requestIncrease = accountRoute({
  operationId: 'requestQuotaIncrease',
  summary: 'Ask for a higher limit',
  tag,
  status: 201,
  body: [
    'NewQuotaRequest',
    NewQuotaRequest,
    {
      'More requests': {
        quota_type: 'requests_per_minute',
        requested_limit: 600,
        reason: 'We are moving our search over next week.',
      },
    },
  ],
  answer: QuotaRequest,
})

export const estimateCost = accountRoute({
  operationId: 'estimateCost',
  summary: 'What a request would cost; nothing is called or held',
  tag,
  body: [
    'NewCostEstimate',
    NewEstimate,
    {
      'By tokens': { model: 'sandbox/echo', input_tokens: 1000, output_tokens: 200 },
      'By messages': {
        model: 'sandbox/echo',
        messages: [{ role: 'user', content: 'Hello' }],
        max_tokens: 200,
      },
    },
  ],
  answer: Estimate,
  errors: ['model_not_found', 'model_access_denied', 'organization_required'],
})
