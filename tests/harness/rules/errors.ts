import { errorTable } from './error-table'

type Json = Record<string, unknown>

const isJson = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const allowedStatuses = [400, 401, 402, 403, 404, 429, 500, 502, 503, 504]
const keys = ['code', 'details', 'message', 'param', 'type']

/** What is wrong with the `error` of a body or frame, whatever else stands beside it. */
export function errorProblems({ error }: Json): string[] {
  if (!isJson(error)) return ['error is no object']
  const problems: string[] = []
  const { type, code, message, param, details, request_id: requestId } = error
  const row = typeof code === 'string' ? errorTable[code] : undefined
  const extra = code === 'internal_error' && requestId !== undefined ? ['request_id'] : []
  const wanted = [...keys, ...extra].toSorted()
  if (Object.keys(error).toSorted().join() !== wanted.join()) {
    problems.push(`error has the keys ${Object.keys(error).join()}`)
  }
  if (!row) problems.push(`the code ${JSON.stringify(code)} does not exist`)
  else if (row.type !== type) problems.push(`type ${JSON.stringify(type)} does not fit its code`)
  if (typeof message !== 'string' || message === '') problems.push('message is no text')
  if (param !== null && typeof param !== 'string') problems.push('param is neither text nor null')
  if (!isJson(details)) problems.push('details is no object')
  else if (row && !row.details.every((key) => key in details)) {
    problems.push(`details lacks one of ${row.details.join()}`)
  }
  return [...problems, ...wordProblems(code, withoutName(message, param))]
}

/** A message names its field, and some of `/api` are called so. */
const withoutName = (message: unknown, param: unknown) =>
  typeof param === 'string' ? String(message).replaceAll(param, '') : message

/** R16 and R17: texts that clients read for want of a code. */
function wordProblems(code: unknown, message: unknown): string[] {
  const text = String(message)
  if (
    code === 'context_length_exceeded' &&
    !/maximum context length is (?:\d+ tokens|exceeded)/.test(text)
  ) {
    return ['R16: the message does not give the maximum context length']
  }
  const isLimit = code === 'rate_limit_exceeded' || code === 'tokens_per_minute_exceeded'
  return !isLimit && /rate[\s_-]*limit|\b429\b/i.test(text) ? ['R17: speaks of rate limits'] : []
}

/** What is wrong with a whole answer outside 2xx. */
export function refusalProblems(response: Response, bodyText: string): string[] {
  const { status, headers } = response
  const problems = allowedStatuses.includes(status) ? [] : [`status ${status} does not exist here`]
  if (!headers.get('content-type')?.startsWith('application/json'))
    problems.push('the type is not JSON')
  let body: unknown
  try {
    body = JSON.parse(bodyText)
  } catch {
    return [...problems, `the body is no JSON: ${bodyText.slice(0, 60)}`]
  }
  if (!isJson(body)) return [...problems, 'the body is no object']
  problems.push(...errorProblems(body))
  const error = isJson(body['error']) ? body['error'] : {}
  const isInternal = error['code'] === 'internal_error'
  const wanted = isInternal ? 'error,request_id' : 'error'
  if (Object.keys(body).toSorted().join() !== wanted) {
    problems.push(`the body has the keys ${Object.keys(body).join()}`)
  }
  const id = headers.get('x-request-id')
  if (isInternal && (error['request_id'] !== id || body['request_id'] !== id)) {
    problems.push('request_id is not the x-request-id, twice')
  }
  const statuses = errorTable[String(error['code'])]?.statuses ?? [status]
  if (!statuses.includes(status)) problems.push(`status ${status} does not fit its code`)
  return problems
}
