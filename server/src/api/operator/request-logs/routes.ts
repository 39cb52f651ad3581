import { OperatedLogDetails, OperatedLogList, OperatedLogQuery } from './schema'
import type { OperatedRequestLogStore } from './store'
import { operator } from '../../../http/access'
import { objectId } from '../../../http/answers'
import { toPage } from '../../../http/paging'
import { route, type Route } from '../../../http/route'

const tag = 'Request logs'
const path = '/api/admin/request-logs'

/** Requests of all accounts, for operators. Source: contract 9.2. */
export const operatedRequestLogRoutes = (logs: OperatedRequestLogStore): Route[] => [
  listAllRequestLogs(logs),
  getAnyRequestLog(logs),
]

/** Margins are not for support. */
const noMargin = { revenue: null, provider_cost: null, margin: null }

const listAllRequestLogs = (logs: OperatedRequestLogStore) =>
  route({
    method: 'get',
    path,
    access: operator({ roles: ['support', 'finance', 'read_only'] }),
    operationId: 'listAllRequestLogs',
    tag,
    summary: 'List the requests of all accounts',
    notes:
      'Newest first, without prompts and answers. Without `user_id` a list covers the last day, or up to 7 days from `start_date` on; a whole id, or a part of one, is found on any day.',
    query: OperatedLogQuery,
    responses: { 200: OperatedLogList },
    handler: ({ query }) => {
      const { limit, offset, cursor, ...filter } = query
      const page = toPage({ limit, offset, cursor }, `all request logs ${JSON.stringify(filter)}`)
      return logs.list(filter, page)
    },
  })

const getAnyRequestLog = (logs: OperatedRequestLogStore) =>
  route({
    method: 'get',
    path: `${path}/:id`,
    access: operator({ roles: ['support', 'finance', 'read_only'] }),
    operationId: 'getAnyRequestLog',
    tag,
    summary: 'Get a request of any account with its attempts',
    notes:
      'Prompts and answers are not shown. Each read is recorded in the audit log, with the account, before the response.',
    params: { id: objectId('req').describe('The `x-request-id` of the answer') },
    responses: { 200: OperatedLogDetails },
    handler: async ({ c, params: { id } }) => {
      const details = await logs.details(id)
      c.set('disclosed', details.user_id)
      return c.get('operatorRole') === 'support' ? { ...details, ...noMargin } : details
    },
  })
