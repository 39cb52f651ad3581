import {
  Estimate,
  History,
  HistoryFilter,
  NewEstimate,
  NewQuotaRequest,
  QuotaRequest,
  QuotaRequestList,
  QuotaRequestPage,
  QuotaStatus,
} from './schema'
import type { QuotaStore } from './store'
import { account } from '../../../http/access'
import { toPage } from '../../../http/paging'
import { route, type Route } from '../../../http/route'

const tag = 'Quota'
const path = '/api/user/quota'

/** Limits of an account, and cost estimates. Source: contract 6.11. */
export const quotaRoutes = (quota: QuotaStore): Route[] => [
  getQuotaStatus(quota),
  getQuotaHistory(quota),
  listQuotaRequests(quota),
  requestQuotaIncrease(quota),
  estimateCost(quota),
]

const getQuotaStatus = (quota: QuotaStore) =>
  route({
    method: 'get',
    path: `${path}/status`,
    access: account('read'),
    operationId: 'getQuotaStatus',
    tag,
    summary: 'Get your limits and their current use',
    notes: 'Minutes as of now, the month as booked. `limit` null means unlimited.',
    responses: { 200: QuotaStatus },
    handler: ({ principal }) => quota.status(principal.userId),
  })

const getQuotaHistory = (quota: QuotaStore) =>
  route({
    method: 'get',
    path: `${path}/history`,
    access: account('read'),
    operationId: 'getQuotaHistory',
    tag,
    summary: 'List your usage by day or month',
    notes:
      'Newest first; whole days in UTC. `percentage` is that of the fullest limit on the day, by the limits of today.',
    query: HistoryFilter,
    responses: { 200: History },
    handler: ({ principal: { userId }, query }) => {
      const { limit, offset, cursor, ...filter } = query
      const page = toPage({ limit, offset, cursor }, `quota ${userId} ${JSON.stringify(filter)}`)
      return quota.history(userId, page, filter)
    },
  })

const listQuotaRequests = (quota: QuotaStore) =>
  route({
    method: 'get',
    path: `${path}/requests`,
    access: account('read'),
    operationId: 'listQuotaRequests',
    tag,
    summary: 'List your quota requests',
    notes: 'Newest first, with the decision and its note.',
    query: QuotaRequestPage,
    responses: { 200: QuotaRequestList },
    handler: ({ principal: { userId }, query }) =>
      quota.requests(userId, toPage(query, `quota requests of ${userId}`)),
  })

const requestQuotaIncrease = (quota: QuotaStore) =>
  route({
    method: 'post',
    path: `${path}/request-increase`,
    access: account('write'),
    operationId: 'requestQuotaIncrease',
    tag,
    summary: 'Request a higher limit',
    notes:
      'An operator decides; you receive the decision by mail and in the inbox. One request for each type can be pending.',
    body: NewQuotaRequest,
    examples: {
      'More requests': {
        quota_type: 'requests_per_minute',
        requested_limit: 600,
        reason: 'We are moving our search over next week.',
      },
    },
    responses: { 201: QuotaRequest },
    handler: ({ principal, body }) => quota.requestIncrease(principal.userId, body),
  })

const estimateCost = (quota: QuotaStore) =>
  route({
    method: 'post',
    path: `${path}/estimate-cost`,
    access: account('write', { tenant: 'organization', body: 'bulk' }),
    operationId: 'estimateCost',
    tag,
    summary: 'Estimate the cost of a request',
    notes:
      'Takes token counts, or the request itself. Uses the price of the connection that would serve it. Calls no provider and holds no credit.',
    body: NewEstimate,
    examples: {
      'By tokens': { model: 'sandbox/echo', input_tokens: 1000, output_tokens: 200 },
      'By messages': {
        model: 'sandbox/echo',
        messages: [{ role: 'user', content: 'Hello' }],
        max_tokens: 200,
      },
    },
    responses: { 200: Estimate },
    errors: ['model_not_found', 'model_access_denied', 'organization_required'],
    handler: ({ principal, body }) => quota.estimate(principal, body),
  })
