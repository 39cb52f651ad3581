import type { ProviderErrorBody } from './error-body'
import { isObject } from '../wire/json-body'

const has = ({ codes }: ProviderErrorBody, expectedCodes: ReadonlySet<string>) =>
  codes.some((code) => expectedCodes.has(code))

/** Codes that mean a bad key, though some providers send 400 with them. */
const badKeyCodes = new Set(['invalid_api_key', 'authentication_error', 'invalidapikey'])
const badKey =
  /(?:incorrect|invalid|wrong|bad|expired|missing) api[ _-]?key|api[ _-]?key (?:provided )?(?:is )?(?:not valid|invalid|incorrect|expired|not found|missing)/i

const unpaidCodes = new Set([
  'insufficient_quota',
  'billing_error',
  'billing_not_active',
  'insufficient_balance',
  'exceeded_current_quota_error',
  'arrearage',
  // Zhipu
  '1113',
])
const unpaid =
  /credit balance is too low|insufficient (?:account )?(?:balance|credits?|funds)|used all available credits|account is in good standing/i

const unknownModelCodes = new Set([
  'model_not_found',
  'model_not_available',
  'model_decommissioned',
  'deploymentnotfound',
  'invalid_model',
])
const unknownModel =
  /\bmodel:?\s(?:[`'"]?[\w./:@-]{1,100}[`'"]?,? )?(?:does not exist|not exist|(?:was |is )?not found|has been decommissioned)|\bmodel [`'"]?[\w./:@-]{1,100}[`'"]? is not supported(?=\s*(?:[.;]|$))|is not a valid model id|model identifier is invalid|non-serverless model/i

/** Types of an error in place of an answer that make it the caller's fault. */
const rejectedTypes = new Set(['invalid_request_error', 'badrequesterror', 'validation'])

/**
 * The status that a refusal stands for: an error inside a 200 may name its own; and a bad key, an
 * account without credit or a model that is not there is the connection's fault, not the caller's, also
 * where it came as a 400.
 */
export function inferStatus(
  responseStatus: number,
  errorBody: ProviderErrorBody,
  text: string,
): number {
  const inner = responseStatus === 200 ? numberIn(errorBody.core['code']) : Number.NaN
  const status = inner >= 400 && inner < 600 ? inner : responseStatus
  if (status !== 200 && !isRejection(status)) return status
  if (errorBody.codes.includes('rate_limit_exceeded')) return 429
  if (has(errorBody, badKeyCodes) || badKey.test(text)) return 401
  if (status !== 200 && isAccountWithoutCredit(errorBody, text)) return 402
  if (has(errorBody, unknownModelCodes) || unknownModel.test(text)) return 404
  return status === 200 && has(errorBody, rejectedTypes) ? 400 : status
}

/** Returns whether the account at the provider is empty or blocked, which waiting does not fix. */
export const isAccountWithoutCredit = (errorBody: ProviderErrorBody, text: string): boolean =>
  has(errorBody, unpaidCodes) || unpaid.test(text)

/** An object made for it throws where it is made a number. */
const numberIn = (value: unknown): number =>
  typeof value === 'number' || typeof value === 'string' ? Number(value) : Number.NaN

const filterCodes = new Set([
  'content_filter',
  'content_policy_violation',
  'content_filter_error',
  'responsibleaipolicyviolation',
  'data_inspection_failed',
  'datainspectionfailed',
  'moderation',
  'cyber_policy',
  'prohibited_content',
  'safety',
  // Zhipu
  '1301',
  // MiniMax
  '1026',
  '1027',
])
const filtered =
  /blocked by (?:our )?content filter|content management policy|content exists risk|data may contain inappropriate content|violates? (?:vertex ai's )?usage guidelines|violating our usage policy|rejected (?:as a result of|by) (?:our|the) safety system|considered high risk|potentially unsafe or sensitive content|input (?:was )?flagged/i
/** OpenRouter and xAI send 403 for it. */
const filterStatuses = new Set([200, 400, 403, 422, 451])

/** Returns whether the provider's filter refused the content of the request. */
export function isFiltered(
  errorBody: ProviderErrorBody,
  { text, status }: { text: string; status: number },
): boolean {
  if (!filterStatuses.has(status)) return false
  const { metadata } = errorBody.core
  const isFlagged = isObject(metadata) && metadata['flagged_input'] !== undefined
  return isFlagged || has(errorBody, filterCodes) || filtered.test(text)
}

const outputLimit =
  /max[_ ](?:completion_|output_)?tokens.{0,60}?(?:too large|too high|>|exceed|at most|less than or equal|should be \[|valid range|must be (?:<|less|between))|maximum tokens you requested exceeds/i

/** Returns whether the requested output limit is above the model's. */
export const isOutputLimit = ({ codes }: ProviderErrorBody, text: string): boolean =>
  codes.includes('max_tokens_exceeded') || outputLimit.test(text)

/**
 * How Tollgate treats a provider's refusal: the error of its caller, failover, circuit breakers and the health of its
 * connection.
 */
export interface RefusalClassification {
  /** The status for the caller: the request is at fault (400), or the provider fails (502) or is only busy (503). */
  readonly callerStatus: 400 | 502 | 503
  /** Whether the same request may succeed soon. */
  readonly isRetryable: boolean
  /** Whether another connection may answer: an error of the request itself would repeat on each. */
  readonly mayTryNext: boolean
  /** Whether the provider cannot have billed anything, also where the refusal came inside a good status. */
  readonly didNoWork: boolean
  /** Its meaning for circuit breakers: the provider works, fails, or has to be paid first; or it shows nothing. */
  readonly breaker: 'works' | 'nothing' | 'fails' | 'unpaid'
  /** Whether the connection's credential or account is refused, which is shown as its health. */
  readonly isConnectionRefused: boolean
}

const rejection: RefusalClassification = {
  callerStatus: 400,
  isRetryable: false,
  mayTryNext: false,
  didNoWork: false,
  breaker: 'works',
  isConnectionRefused: false,
}
const unknownRefusal: RefusalClassification = {
  ...rejection,
  callerStatus: 502,
  breaker: 'nothing',
}
const missingModel: RefusalClassification = { ...unknownRefusal, mayTryNext: true }
/** Perhaps of the content of the request alone. */
const forbiddenUse: RefusalClassification = { ...missingModel, isConnectionRefused: true }
const badCredential: RefusalClassification = { ...forbiddenUse, breaker: 'fails' }
const noCredit: RefusalClassification = { ...forbiddenUse, breaker: 'unpaid' }
const providerFailure: RefusalClassification = {
  ...missingModel,
  isRetryable: true,
  breaker: 'fails',
}
const busyProvider: RefusalClassification = {
  ...providerFailure,
  callerStatus: 503,
  didNoWork: true,
}

/** The one table of statuses: to treat a status like another, give it the same classification here. */
const classifications: ReadonlyMap<number, RefusalClassification> = new Map([
  [400, rejection],
  [401, badCredential],
  [402, noCredit],
  [403, forbiddenUse],
  [404, missingModel],
  [413, rejection],
  [422, rejection],
  [429, busyProvider],
  [503, busyProvider],
  [529, busyProvider],
])

/** Classifies a refusal of which only the status is known. */
export const classifyStatus = (status: number): RefusalClassification =>
  classifications.get(status) ?? (status >= 500 ? providerFailure : unknownRefusal)

/** Returns whether a request that is refused with a status is the caller's to change. */
const isRejection = (status: number): boolean => classifyStatus(status) === rejection

const overloadPhrases =
  /overloaded|rate.?limit|too many requests|resource_exhausted|throttl|at capacity/i

/** Words of a refusal of one request that is beyond a limit by itself, however rare requests are. */
const tooLarge = /\btoo large\b|\bmust be reduced\b|\breduce (?:the|your)\b/i

/** Classifies a refusal by the status that it stands for, its codes and its words. */
export function classifyRefusal(
  errorBody: ProviderErrorBody,
  { text, status }: { text: string; status: number },
): RefusalClassification {
  if (isRejection(status)) return rejection
  const isOverload = status === 200 && overloadPhrases.test(`${errorBody.codes.join(' ')} ${text}`)
  const classification = isOverload ? busyProvider : classifyStatus(status)
  // Waiting for seconds fills no account, whatever the status.
  if (isAccountWithoutCredit(errorBody, text)) {
    return { ...noCredit, mayTryNext: classification.mayTryNext }
  }
  if (classification !== busyProvider || !tooLarge.test(text)) return classification
  // No waiting can make it fit.
  return { ...busyProvider, isRetryable: false, breaker: status === 429 ? 'nothing' : 'fails' }
}

/** Classifies a call of the model that its provider could not read: neither the request nor the provider is at fault. */
export const classifyFailedCall = (status: number): RefusalClassification => ({
  ...(isRejection(status) ? unknownRefusal : classifyStatus(status)),
  callerStatus: 502,
  isRetryable: true,
  didNoWork: false,
})
