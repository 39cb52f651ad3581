import { readOverflow, type Overflow } from './context-length'
import { readErrorBody, type ProviderErrorBody } from './error-body'
import { redact, removeSecrets, scrub, type ConnectionSecrets } from './redact'
import {
  classifyFailedCall,
  classifyRefusal,
  classifyStatus,
  inferStatus,
  isFiltered,
  isOutputLimit,
  type RefusalClassification,
} from './refusal-kind'
import { readSeconds, retryAfterSeconds } from './retry-after'
import { ApiError, invalidRequest } from '../errors'
import { isObject, type JsonObject, toObjects } from '../wire/json-body'

/** The provider and the request behind an error, as far as its translation needs them. */
export interface ErrorSource extends ConnectionSecrets {
  provider: string
  /** The field that holds the text of the request. */
  textField: 'messages' | 'prompt' | 'input' | 'documents' | 'file'
  /** Returns whether the caller sent a field of that name. */
  wasSent: (field: string) => boolean
  /** The limits of the model in the catalogue, in tokens. */
  contextLength: number | null
  maxOutputTokens: number | null
}

/** A provider's refusal. */
export interface UpstreamFailure {
  status: number
  body: unknown
  retryAfter?: string | null
}

/** The refusal of a provider behind an `ApiError`, as its `cause`: for failover, breakers and connection health. */
export class UpstreamError extends Error {
  override readonly name = 'UpstreamError'
  /** The status that the refusal stands for, whatever its own: some providers send 400 for a bad key. */
  readonly status: number
  /** The provider's message, without secrets. It may repeat the prompt: never for the log. */
  readonly words: string
  readonly classification: RefusalClassification
  /** Its codes, types and states, in lower case. */
  readonly codes: readonly string[]

  constructor(
    status: number,
    words: string,
    { classification = classifyStatus(status), codes = noCodes } = {},
  ) {
    super(`The provider answered with status ${status}.`)
    this.status = status
    this.words = words
    this.classification = classification
    this.codes = codes
  }
}

const noCodes: readonly string[] = []

/** Returns the provider's refusal behind an error; undefined where the provider did not refuse. */
export const findUpstreamError = ({ cause }: ApiError): UpstreamError | undefined =>
  cause instanceof UpstreamError ? cause : undefined

/** A refusal as it was read. */
interface Refusal {
  errorBody: ProviderErrorBody
  /** Its words without secrets, as much as is read. */
  text: string
  /** The part of the text that callers receive. */
  words: string
  /** The status that the refusal stands for. */
  status: number
  classification: RefusalClassification
  retryAfter: string | null | undefined
}

/** The field that words such as "messages.3: ..." begin with. Its place may not be the caller's. */
const fieldIn = (words: string) => /^([a-z_]{2,40})(?:\.[\w.-]{1,80})?: /.exec(words)?.[1] ?? ''

/** Numbers of tokens in a text such as "max_tokens: 9000 > 4096". */
const numbersIn = (text: string) =>
  [...text.matchAll(/\d[\d,]{2,}/g)]
    .map(([digits]) => Number(digits.replaceAll(',', '')))
    .filter((count) => Number.isSafeInteger(count))

/** Translates a provider's error for the caller. Source: contract 10.3. */
export function toCallerError(failure: UpstreamFailure, source: ErrorSource): ApiError {
  const errorBody = readErrorBody(failure.body)
  const text = redact(errorBody.errorText, source)
  const words = tactful(text.slice(0, 300))
  const status = inferStatus(failure.status, errorBody, text)
  const classification = classifyRefusal(errorBody, { text, status })
  const { retryAfter } = failure
  const refusal = { errorBody, text, words, status, classification, retryAfter }
  return (
    failedCall(refusal, source) ??
    contentError(refusal, source) ??
    lengthError(refusal, source) ??
    (classification.callerStatus === 400
      ? rejection(refusal, source)
      : providerError(refusal, source))
  )
}

/** The maximum of characters of a failed generation that callers receive. */
const maxGeneration = 16_384

/**
 * A call of the model that its provider could not read, which Groq reports as if the request were at fault: the next try
 * may succeed, and clients repair the call from its text.
 * @see https://console.groq.com/docs/tool-use
 */
function failedCall({ errorBody, words, status }: Refusal, source: ErrorSource) {
  if (!errorBody.codes.includes('tool_use_failed')) return undefined
  const { failed_generation: generation } = errorBody.core
  const { provider } = source
  const providerMessage = words || 'The model called a tool in a form that cannot be read.'
  const text = typeof generation === 'string' ? generation : ''
  const own = removeSecrets(text, source)
  return new ApiError('provider_error', {
    message: `${provider} returned an error: ${providerMessage}`,
    details: {
      provider,
      provider_error: providerMessage,
      ...(own !== '' && { failed_generation: own.slice(0, maxGeneration) }),
    },
    retryable: true,
    cause: new UpstreamError(status, providerMessage, {
      classification: classifyFailedCall(status),
    }),
  })
}

function contentError({ errorBody, text, words, status }: Refusal, source: ErrorSource) {
  if (!isFiltered(errorBody, { text, status })) return undefined
  return invalidRequest(
    source.textField,
    'content_filter',
    words || `${source.provider} filtered the request.`,
  )
}

function lengthError(
  { errorBody, text, words, status, classification }: Refusal,
  source: ErrorSource,
) {
  // A busy provider or a bad key is not the caller's fault, whatever the words.
  if (classification.callerStatus !== 400 && status !== 200 && status !== 500) return undefined
  const overflow = readOverflow(errorBody, { providerMessage: text, status })
  if (overflow) return contextLengthExceeded(overflow, words, source)
  return status !== 500 && isOutputLimit(errorBody, text)
    ? maxTokensExceeded(words, source)
    : undefined
}

/** The provider knows its maximum better than the catalogue. */
function contextLengthExceeded(
  { maximum: providerMessage, requested }: Overflow,
  words: string,
  { contextLength, textField }: ErrorSource,
): ApiError {
  const maximum = providerMessage ?? contextLength
  // Some clients recognise this error by these very words (contract 1.7).
  const isKnownLimit =
    maximum === null
      ? "This model's maximum context length is exceeded."
      : `This model's maximum context length is ${maximum} tokens.`
  const isInMessage =
    maximum !== null && words.includes(`maximum context length is ${maximum} tokens`)
  return new ApiError('context_length_exceeded', {
    param: textField,
    message: isInMessage ? words : `${isKnownLimit} ${words}`.trim(),
    details: { max_context: maximum, requested },
  })
}

function maxTokensExceeded(words: string, source: ErrorSource): ApiError {
  // The first two numbers are the limit and the requested value, in either order.
  const [low, high] = numbersIn(words)
    .slice(0, 2)
    .toSorted((a, b) => a - b)
  return new ApiError('max_tokens_exceeded', {
    param: source.wasSent('max_completion_tokens') ? 'max_completion_tokens' : 'max_tokens',
    message: words,
    details: { max_allowed: low ?? source.maxOutputTokens, requested: high ?? null },
  })
}

/** Translates a rejected request: with the field, where the caller sent the one that is named. */
function rejection({ errorBody, words, status }: Refusal, source: ErrorSource): ApiError {
  // For a legacy completion its prompt became the messages.
  const field = fieldIn(words).replace(/^messages$/, source.textField)
  const param = sentField(redact(errorBody.param || field, source), source)
  const message = words || `${source.provider} rejected the request with status ${status}.`
  return new ApiError('invalid_request', {
    param,
    message,
    details: { issue: 'refused_by_provider' },
    cause: new UpstreamError(status, words, { codes: errorBody.codes }),
  })
}

const fieldPath = /^[\w$.[\]-]{1,200}$/

/** The path of a field that the caller sent; the field alone where its path is none. */
function sentField(path: string, source: ErrorSource): string | null {
  const [field = ''] = path.split(/[.[]/)
  if (!source.wasSent(field)) return null
  return fieldPath.test(path) ? path : field
}

/** Words about rates belong to our own 429 only: clients take any such text for one (contract 1.7). */
const tactful = (words: string) =>
  words
    .replaceAll(/rate[\s_-]*limited/gi, 'throttled')
    .replaceAll(/rate[\s_-]*limit(?:ing|er|ation)/gi, 'throttling')
    .replaceAll(/rate[\s_-]*limit/gi, 'quota')
    .replaceAll(/\b429\b/g, '"too many requests"')

function providerError(refusal: Refusal, { provider }: ErrorSource): ApiError {
  const { errorBody, status, classification, retryAfter } = refusal
  const providerMessage = refusal.words || tactful(`It returned status ${status}.`)
  const { callerStatus, isRetryable } = classification
  const seconds = retryAfterSeconds(retryAfter) ?? readSeconds(errorBody.errorText)
  return new ApiError('provider_error', {
    status: callerStatus,
    message: `${provider} returned an error: ${providerMessage}`,
    details: { provider, provider_error: providerMessage },
    retryable: isRetryable,
    ...(callerStatus === 503 && seconds !== undefined && { retryAfterSeconds: seconds }),
    cause: new UpstreamError(status, providerMessage, { classification, codes: errorBody.codes }),
  })
}

/** An answer that makes no sense: not JSON, not a chunk, cut, an unexpected redirect. */
export const invalidAnswer = (provider: string, problem: string, cause?: unknown) =>
  new ApiError('provider_error', {
    message: `${provider} sent ${problem}.`,
    details: { provider, provider_error: problem },
    // It may have been billed.
    retryable: false,
    cause,
  })

/**
 * Translates an error in place of an answer whose status was good, or an answer that reports why it broke
 * off.
 */
export function toFailure(body: JsonObject, source: ErrorSource): ApiError {
  const errorBody = [body, ...choicesIn(body)].find(isError)
  const reason = errorBody ? undefined : [body, ...choicesIn(body)].map(reasonOf).find(Boolean)
  if (reason === undefined) return toCallerError({ status: 200, body: errorBody ?? body }, source)
  return invalidAnswer(source.provider, `a response that ended early: ${scrub(reason, source)}`)
}

const isError = ({ error, message, base_resp: base }: JsonObject) =>
  Boolean(error) || typeof message === 'string' || isObject(base)

const choicesIn = ({ choices }: JsonObject) => toObjects(choices)

function reasonOf(choice: JsonObject): string | undefined {
  const { finish_reason: reason, native_finish_reason: native } = choice
  if (native === 'error') return native
  return typeof reason === 'string' ? reason : undefined
}

export const truncatedAnswer = (source: ErrorSource) =>
  invalidAnswer(source.provider, 'a response that ended early')

/** The most blocks of an answer that may be open at once; providers end one before the next. */
const maxOpenBlocks = 1000

/** Throws where a provider opens more and more blocks without an end to any: each is remembered until its end. */
export function limitOpenBlocks(open: number, source: ErrorSource): void {
  if (open > maxOpenBlocks) throw invalidAnswer(source.provider, 'too many open blocks')
}

/** A call with arguments that no event of its answer named. */
export const unnamedCall = (source: ErrorSource) =>
  invalidAnswer(source.provider, 'a tool call without a name')
