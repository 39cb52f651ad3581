import { Log, LogDetails, LogList, RequestLogFilter, RequestLogQuery, Stats } from './schema'
import type { RequestLogStore } from './store'
import { account } from '../../../http/access'
import { objectId } from '../../../http/answers'
import { toPage } from '../../../http/paging'
import { route, type Route } from '../../../http/route'

const tag = 'Request logs'
const path = '/api/account/request-logs'
const params = { id: objectId('req').describe('The `x-request-id` of the answer') }

/** Logs of an account's requests to the model endpoints. Source: contract 6.9. */
export const requestLogRoutes = (logs: RequestLogStore): Route[] => [
  listRequestLogs(logs),
  getRequestLogStats(logs),
  getRequestLog(logs),
  getRequestLogDetails(logs),
]

const listRequestLogs = (logs: RequestLogStore) =>
  route({
    method: 'get',
    path,
    access: account('read'),
    operationId: 'listRequestLogs',
    tag,
    summary: 'List your requests to the model endpoints',
    notes:
      'Newest first, rejected ones included, without prompts and answers. `model` served the request, `requested_model` is the name that the client sent. The operator sets the retention; 30 days by default.',
    query: RequestLogQuery,
    responses: { 200: LogList },
    handler: ({ principal: { userId }, query }) => {
      const { limit, offset, cursor, ...filter } = query
      const scope = `request logs ${userId} ${JSON.stringify(filter)}`
      return logs.list(userId, toPage({ limit, offset, cursor }, scope), filter)
    },
  })

const getRequestLogStats = (logs: RequestLogStore) =>
  route({
    method: 'get',
    path: `${path}/stats`,
    access: account('read'),
    operationId: 'getRequestLogStats',
    tag,
    summary: 'Get sums of your requests',
    notes:
      'Takes the filters of the list; the last 30 days by default. `success_rate` is the share of successes among successes and failures.',
    query: RequestLogFilter,
    responses: { 200: Stats },
    handler: ({ principal, query }) => logs.stats(principal.userId, query),
  })

const getRequestLog = (logs: RequestLogStore) =>
  route({
    method: 'get',
    path: `${path}/:id`,
    access: account('read'),
    operationId: 'getRequestLog',
    tag,
    summary: 'Get a request',
    notes: 'By the `x-request-id` of its answer, rejected requests included.',
    params,
    responses: { 200: Log },
    handler: ({ principal, params: { id } }) => logs.get(principal.userId, id),
  })

const getRequestLogDetails = (logs: RequestLogStore) =>
  route({
    method: 'get',
    path: `${path}/:id/details`,
    access: account('read'),
    operationId: 'getRequestLogDetails',
    tag,
    summary: 'Get a request with its attempts and bodies',
    notes:
      '`resolution_attempts` lists each attempt at a provider in order, and each candidate that was skipped, with the reason. Bodies are present if operator and account store them, without anything that looks like a secret.',
    params,
    responses: { 200: LogDetails },
    handler: ({ principal, params: { id } }) => logs.details(principal.userId, id),
  })
