const allowed = new RegExp(
  `^(${[
    'date',
    'content-type',
    'content-length',
    'content-encoding',
    'transfer-encoding',
    'cache-control',
    'vary',
    'access-control-.+',
    'www-authenticate',
    'retry-after',
    'retry-after-ms',
    'x-request-id',
    'request-id',
    'x-ratelimit-.+',
    'openai-processing-ms',
    'x-tollgate-.+',
    'x-should-retry',
    'x-accel-buffering',
    'x-idempotent-replay',
    'content-security-policy',
    'x-content-type-options',
    'x-frame-options',
    'referrer-policy',
    'keep-alive',
    'connection',
  ].join('|')})$`,
)

/** What is wrong with a request or its key is wrong with its repeat. */
const hopeless = new Set([400, 401, 402, 403, 404])

const isWhole = (value: string | null) => value !== null && /^\d+$/.test(value)

/** I14: what a 429 must say so that clients can wait for the right time. */
function limitProblems(headers: Headers): string[] {
  const problems: string[] = []
  for (const name of ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset']) {
    if (!isWhole(headers.get(name))) problems.push(`I14: ${name} is no integer`)
  }
  // A second of grace: the answer was made before it was judged.
  const now = Math.floor(Date.now() / 1000) - 1
  if (Number(headers.get('x-ratelimit-reset')) < now) problems.push('I14: the reset is in the past')
  const retryAfter = headers.get('retry-after')
  if (!isWhole(retryAfter) || Number(retryAfter) < 1)
    problems.push('I14: no Retry-After of 1 or more')
  if (!isWhole(headers.get('retry-after-ms'))) problems.push('R15: no retry-after-ms')
  return problems
}

const streamHeaders: Record<string, string> = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
}

function streamProblems(headers: Headers): string[] {
  const wrong = Object.entries(streamHeaders).filter(([name, value]) => headers.get(name) !== value)
  const never = ['content-length', 'content-encoding'].filter((name) => headers.has(name))
  return [
    ...wrong.map(([name]) => `headers: ${name} of a stream is ${headers.get(name)}`),
    ...never.map((name) => `headers: ${name} on a stream`),
  ]
}

export const isEventStream = (response: Response) =>
  response.headers.get('content-type')?.startsWith('text/event-stream') ?? false

/** What is wrong with the headers of an answer. `also` are names allowed besides the usual ones. */
export function headerProblems(response: Response, also: readonly string[]): string[] {
  const { status, headers } = response
  const problems = [...headers.keys()]
    .filter((name) => !allowed.test(name) && !also.includes(name))
    .map((name) => `headers: ${name} is not on the list`)
  if (!headers.get('x-request-id')) problems.push('R22: no x-request-id')
  if (status === 401 && !headers.has('www-authenticate'))
    problems.push('headers: 401 without www-authenticate')
  if (hopeless.has(status) && headers.get('x-should-retry') !== 'false') {
    problems.push(`C3: ${status} without x-should-retry: false`)
  }
  if (status === 429) problems.push(...limitProblems(headers))
  if (isEventStream(response)) problems.push(...streamProblems(headers))
  return problems
}
