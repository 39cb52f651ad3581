import { filters, Log, LogDetails, LogList, Stats } from './schema'
import { accountRoute, paging } from '../../../http/documentation'

const tag = 'Request logs'

export const listRequestLogs = accountRoute({
  operationId: 'listRequestLogs',
  summary: 'Your requests to the model endpoints, refused ones too, newest first',
  tag,
  query: [...filters, ...paging],
  answer: LogList,
})

export const getRequestLogStats = accountRoute({
  operationId: 'getRequestLogStats',
  summary: 'Sums of your requests, of the last 30 days unless told otherwise',
  tag,
  query: filters,
  answer: Stats,
})

export const getRequestLog = accountRoute({
  operationId: 'getRequestLog',
  summary: 'One request, by the `x-request-id` of its answer',
  tag,
  path: ['id'],
  answer: Log,
})

export const getRequestLogDetails = accountRoute({
  operationId: 'getRequestLogDetails',
  summary: 'One request with who was asked, and its bodies where they are kept',
  tag,
  path: ['id'],
  answer: LogDetails,
})
