import { ApiError, invalidRequest } from '../errors'
import { isObject, type JsonObject } from '../wire/json-body'

const longestWords = 300

/** Who answers which request, as far as an error needs to know. */
export interface Source {
  provider: string
  /** Removed from every text that leaves. */
  secret: string | null
  /** Where the request holds its text. */
  textField: 'messages' | 'prompt' | 'input'
  /** Whether the caller sent a field of that name. */
  wasSent: (field: string) => boolean
  /** What the catalogue says of the model, in tokens. */
  contextLength: number | null
  maxOutputTokens: number | null
}

/** In full, or shortened by `::`; a time of day is neither. */
const ipv6 =
  /(?<![\w:])\[?(?:(?:[\da-f]{1,4}:){7}[\da-f]{1,4}|(?:[\da-f]{1,4}(?::[\da-f]{1,4}){0,6})?::(?:[\da-f]{1,4}(?::[\da-f]{1,4}){0,6})?)(?:%\w+)?(?![\w:])(?:\](?::\d+)?)?/gi

/** Secrets, keys, addresses and markup do not leave with a provider's words. */
export function scrub(text: string, secret: string | null): string {
  const known = secret ? text.replaceAll(secret, '[secret]') : text
  return known
    .slice(0, 4 * longestWords)
    .replaceAll(/<[^<>]{0,200}>/g, ' ')
    .replaceAll(/\b(?:(?:sk|pk|rk|gsk|xai|key)[-_]|Bearer )[\w.-]{8,}/gi, '[secret]')
    .replaceAll(/\bhttps?:\/\/[^\s"'<>]{1,300}/gi, '[address]')
    .replaceAll(/\b\d{1,3}(\.\d{1,3}){3}(:\d+)?\b/g, '[address]')
    .replaceAll(ipv6, '[address]')
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .slice(0, longestWords)
}

/** The words of an error in any of the shapes that OpenAI-alikes use. Source: wire.md 7.4. */
function wordsOf(body: unknown): string | undefined {
  if (typeof body === 'string') return body
  if (Array.isArray(body)) return wordsOf(body[0])
  if (!isObject(body)) return undefined
  for (const name of ['error', 'message', 'detail', 'status_msg', 'base_resp']) {
    const words = wordsOf(body[name])
    if (words) return words
  }
  return undefined
}

/** The object that holds `code`, `param` and `type`. */
function coreOf(body: unknown): JsonObject {
  if (Array.isArray(body)) return coreOf(body[0])
  if (!isObject(body)) return {}
  return isObject(body['error']) ? body['error'] : body
}

/** The field that words such as "messages.3: ..." begin with. Its place may not be the caller's. */
const fieldIn = (words: string) => /^([a-z_]{2,40})(?:\.[\w.-]{1,80})?: /.exec(words)?.[1] ?? ''

const textOf = (value: unknown) => (typeof value === 'string' ? value : '')

/** Numbers of a text such as "maximum context length is 8192 tokens ... requested 9000". */
const numbersIn = (text: string) =>
  [...text.matchAll(/\d[\d,]{2,}/g)].map(([digits]) => Number(digits.replaceAll(',', '')))

const tooLong =
  /context_length_exceeded|maximum context length|prompt is too long|exceeds the maximum number of tokens|input is too long|context window/i
const capTooHigh =
  /max_(?:completion_|output_)?tokens.{0,40}(?:too large|too high|>|exceed|at most)/i
const busy = /overloaded|rate.?limit|too many requests|resource_exhausted|throttl|at capacity/i

/** A provider's refusal. */
export interface Failure {
  status: number
  body: unknown
  retryAfter?: string | null
}

/** What a provider's error means for the caller. Source: api.md 21.2. */
export function toCallerError(failure: Failure, source: Source): ApiError {
  const { body } = failure
  const core = coreOf(body)
  const words = scrub(wordsOf(body) ?? '', source.secret)
  const code = `${textOf(core['code'])} ${textOf(core['type'])}`
  // An error inside a 200 may name the status that it would have had.
  const inner = Number(core['code'])
  const status = failure.status === 200 && inner >= 400 && inner < 600 ? inner : failure.status
  const isCallersFault = [400, 413, 422].includes(status)

  if (isCallersFault || status === 200) {
    const known = lengthError(`${code} ${words}`, words, source)
    if (known) return known
  }
  const fault = isCallersFault ? fieldError(core, { code, words }, source) : undefined
  return fault ?? providerError({ ...failure, status }, source, { words, code })
}

/** For a request that was wrong; undefined where nothing says in what. */
function fieldError(
  core: JsonObject,
  { code, words }: { code: string; words: string },
  source: Source,
): ApiError | undefined {
  if (/content_filter|content_policy/i.test(code)) {
    return invalidRequest(source.textField, 'content_filter', tactful(words) || 'Refused.')
  }
  // For a legacy completion its prompt became the messages.
  const field = fieldIn(words).replace(/^messages$/, source.textField)
  const param = textOf(core['param']) || field
  if (param === '' || !source.wasSent(param.split(/[.[]/)[0] ?? '')) return undefined
  return invalidRequest(param, 'refused_by_provider', tactful(words))
}

function lengthError(text: string, words: string, source: Source): ApiError | undefined {
  // The first two numbers are the limit and what was asked, in either order.
  const [low, high] = numbersIn(words)
    .slice(0, 2)
    .toSorted((a, b) => a - b)
  if (tooLong.test(text)) {
    const maximum = source.contextLength ?? low ?? 0
    return new ApiError('context_length_exceeded', {
      param: source.textField,
      message: /maximum context length is/i.test(words)
        ? words
        : `This model's maximum context length is ${maximum} tokens.`,
      details: { max_context: maximum, requested: high ?? low ?? maximum },
    })
  }
  if (!capTooHigh.test(text)) return undefined
  const allowed = source.maxOutputTokens ?? low ?? 0
  return new ApiError('max_tokens_exceeded', {
    param: source.wasSent('max_completion_tokens') ? 'max_completion_tokens' : 'max_tokens',
    message: words,
    details: { max_allowed: allowed, requested: high ?? low ?? allowed },
  })
}

/** Words about rates belong to our own 429 only: clients take any such text for one (wire.md R17). */
const tactful = (words: string) =>
  words.replaceAll(/rate[\s_-]*limit/gi, 'quota').replaceAll(/\b429\b/g, '"too many requests"')

const busyStatuses = new Set([429, 503, 529])

function providerError(
  { status, body, retryAfter }: Failure,
  { provider }: Source,
  { words, code }: { words: string; code: string },
): ApiError {
  const told = tactful(words || `It answered with status ${status}.`)
  const isQuota = /insufficient_quota|billing/i.test(code)
  const seemsBusy = busyStatuses.has(status) || (status === 200 && busy.test(`${code} ${words}`))
  const isBusy = seemsBusy && !isQuota
  const seconds = retryAfterSeconds(retryAfter) ?? secondsIn(wordsOf(body) ?? '')
  return new ApiError('provider_error', {
    status: isBusy ? 503 : 502,
    message: `${provider} answered with an error: ${told}`,
    details: { provider, provider_error: told },
    // A repeat cures neither a refusal, nor a credential, nor an empty account.
    retryable: isBusy || (status >= 500 && !isQuota),
    ...(isBusy && seconds !== undefined && { retryAfterSeconds: seconds }),
    cause: { upstreamStatus: status },
  })
}

/** `Retry-After` in seconds or as a date; undefined when it is neither. */
export function retryAfterSeconds(header: string | null | undefined): number | undefined {
  if (!header) return undefined
  const seconds = Number(header)
  if (Number.isFinite(seconds)) return Math.max(0, seconds)
  const date = Date.parse(header)
  return Number.isNaN(date) ? undefined : Math.max(0, (date - Date.now()) / 1000)
}

function secondsIn(words: string): number | undefined {
  const found = /(?:try again in|retry after) (\d{1,6}(?:\.\d{1,6})?) ?(ms|s|seconds?)?/i.exec(
    words,
  )
  if (!found) return undefined
  return Number(found[1]) / (found[2] === 'ms' ? 1000 : 1)
}

/** An answer that makes no sense: not JSON, not a chunk, cut, an unexpected redirect. */
export const nonsense = (provider: string, what: string, cause?: unknown) =>
  new ApiError('provider_error', {
    message: `${provider} sent ${what}.`,
    details: { provider, provider_error: what },
    // It may have been billed.
    retryable: false,
    cause,
  })

/** An error in place of an answer whose status was good. */
export const failure = (body: JsonObject, source: Source) =>
  toCallerError({ status: 200, body }, source)

export const endedEarly = (source: Source) =>
  nonsense(source.provider, 'an answer that ended early')
