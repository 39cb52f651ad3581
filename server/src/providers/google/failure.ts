import { ApiError } from '../../errors'
import { isObject, type JsonObject, toObjects, toText } from '../../wire/json-body'
import { scrub } from '../redact'
import { toCallerError, type UpstreamFailure, type ErrorSource } from '../upstream-error'

/** Google's names of fields -> OpenAI's, the first that fits. */
const fields: readonly (readonly [RegExp, string])[] = [
  [/max_?output_?tokens/i, 'max_tokens'],
  [/temperature/i, 'temperature'],
  [/top_?p/i, 'top_p'],
  [/stop_?sequences/i, 'stop'],
  [/response_?(?:json_?)?(?:schema|mime)/i, 'response_format'],
  [/response[_ ]?modalit/i, 'modalities'],
  [/speech_?config|voice_?config/i, 'audio'],
  [/thinking/i, 'reasoning_effort'],
  [/tool_?config/i, 'tool_choice'],
  [/tools|function_?declarations/i, 'tools'],
  [/contents|system_?instruction/i, 'messages'],
]

/**
 * Translates a refusal by Google for the caller: as for OpenAI-compatible providers, after Google's own
 * forms of a bad key, a time to wait and a wrong field. @see https://cloud.google.com/apis/design/errors
 */
export function toGoogleError(failure: UpstreamFailure, source: ErrorSource): ApiError {
  const error = errorOf(failure.body)
  const words = typeof error['message'] === 'string' ? error['message'] : ''
  const details = toObjects(error['details'])
  const capError = failure.status === 400 ? outputLimitError(words, source) : undefined
  if (capError) return capError
  const core = { ...error, param: fieldOf(details, words, source) }
  return toCallerError(
    {
      ...failure,
      status: effectiveStatus(failure.status, error, { details, words }),
      body: { error: core },
      retryAfter: failure.retryAfter ?? retryDelay(details),
    },
    source,
  )
}

/** Returns whether Google refused the signatures of the history: made by another model, with another key. */
export function isSignatureRejection({ status, body }: UpstreamFailure): boolean {
  const words = errorOf(body)['message']
  return (
    status === 400 &&
    typeof words === 'string' &&
    /(?:invalid|corrupted|missing).{0,20}thought.?signature|thought.?signature.{0,40}(?:invalid|corrupted)/i.test(
      words,
    )
  )
}

function errorOf(body: unknown): JsonObject {
  // The OpenAI surface, and a stream that is none, put it in an array.
  const outer: unknown = Array.isArray(body) ? body[0] : body
  if (!isObject(outer)) return typeof outer === 'string' ? { message: outer } : {}
  if (isObject(outer['error'])) return outer['error']
  return typeof outer['error'] === 'string' ? { message: outer['error'] } : outer
}

/** A bad key, and a place or account that Google does not serve, are 400s here: not the caller's fault. */
function effectiveStatus(
  status: number,
  error: JsonObject,
  { details, words }: { details: readonly JsonObject[]; words: string },
): number {
  if (isBadKey(details, words)) return 401
  return status === 400 && error['status'] === 'FAILED_PRECONDITION' ? 403 : status
}

const isBadKey = (details: readonly JsonObject[], words: string) =>
  details.some(({ reason }) => typeof reason === 'string' && reason.startsWith('API_KEY_')) ||
  /API key (?:not valid|expired|not found)/i.test(words)

/** `RetryInfo.retryDelay`, such as `34.4s`, as the seconds of a header. */
function retryDelay(details: readonly JsonObject[]): string | null {
  const info = details.find(({ '@type': type }) => toText(type).endsWith('google.rpc.RetryInfo'))
  return /^(\d{1,9}(?:\.\d{1,9})?)s$/.exec(toText(info?.['retryDelay']))?.[1] ?? null
}

/** The caller's field that Google complains about. */
function fieldOf(details: readonly JsonObject[], words: string, source: ErrorSource): string {
  const violations = details.flatMap(({ fieldViolations }) => toObjects(fieldViolations))
  const fieldNames = violations.map(({ field }) => toText(field)).join(' ') || readFieldName(words)
  const field = fields.find(([theirs]) => theirs.test(fieldNames))?.[1] ?? ''
  const isLimit = field === 'max_tokens' && !source.wasSent(field)
  return isLimit ? 'max_completion_tokens' : field
}

/** Without a list of fields the name is in the text, if anywhere. */
function readFieldName(words: string): string {
  const match = /GenerateContentRequest\.([\w.[\]]{1,100})|at '([\w.[\]]{1,100})'/.exec(words)
  return (
    match?.[1] ??
    match?.[2] ??
    /thinking (?:level|budget)|response modalities/i.exec(words)?.[0] ??
    ''
  )
}

/** "… maxOutputTokens value of 100000 but the supported range is from 1 (inclusive) to 65537 (exclusive)" */
function outputLimitError(words: string, source: ErrorSource): ApiError | undefined {
  const match =
    /max_?output_?tokens.{0,40}?(\d{1,10}).{0,60}? to (\d{1,10}) \((in|ex)clusive\)/i.exec(words)
  if (!match) return undefined
  const highest = Number(match[2]) - (match[3] === 'ex' ? 1 : 0)
  return new ApiError('max_tokens_exceeded', {
    param: source.wasSent('max_completion_tokens') ? 'max_completion_tokens' : 'max_tokens',
    message: scrub(words, source),
    details: {
      max_allowed: highest,
      requested: Number(match[1]),
    },
  })
}
