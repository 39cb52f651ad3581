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

const rejections = new Set([200, 400, 413, 422])

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
  if (!rejections.has(status)) return status
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

const busyStatuses = new Set([429, 503, 529])
const overloadPhrases =
  /overloaded|rate.?limit|too many requests|resource_exhausted|throttl|at capacity/i

/** Returns whether the provider is overloaded, or rate-limits the account. */
export const isBusy = (
  { codes }: ProviderErrorBody,
  { text, status }: { text: string; status: number },
): boolean =>
  busyStatuses.has(status) || (status === 200 && overloadPhrases.test(`${codes.join(' ')} ${text}`))

/** Words of a refusal of one request that is beyond a limit by itself, however rare requests are. */
const tooLarge = /\btoo large\b|\bmust be reduced\b|\breduce (?:the|your)\b/i

/** Returns whether no waiting can make a request fit that a busy provider did not take. */
export const isAlwaysTooLarge = (text: string): boolean => tooLarge.test(text)
