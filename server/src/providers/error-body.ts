import { isObject, type JsonObject, toText } from '../wire/json-body'
import { eventShape } from '../wire/json-shape'
import { parseShaped } from '../wire/json-slices'

/** The fields of a provider's error body. */
export interface ProviderErrorBody {
  /** Its words as they came; empty where it has none. */
  errorText: string
  /** The object that holds `code`, `type` and `param`. */
  core: JsonObject
  /** Its codes, types and states, in lower case. */
  codes: readonly string[]
  /** The field that it names, as the provider calls it; empty where it names none. */
  param: string
}

/** Errors are nested in each other by gateways; deeper ones are not looked at. */
const maxDepth = 6
/** The maximum of problems in a list that the message repeats. */
const maxProblems = 5

/** Reads an error in any of the shapes in which providers give it. Source: contract 12.4. */
export function readErrorBody(body: unknown): ProviderErrorBody {
  const core = coreOf(unwrapped(body, 0), 0)
  return {
    errorText: messageOf(body, 0),
    core,
    codes: codesOf(core),
    param: toText(core['param']) || fieldOf(core) || fieldOf(isObject(body) ? body : {}),
  }
}

/** Fields with the text of an error, in the order in which they are tried. */
const messageFields = [
  'error',
  'message',
  'Message',
  'detail',
  'errors',
  'status_msg',
  'base_resp',
  'error_msg',
  'error_description',
  'msg',
]

function messageOf(body: unknown, depth: number): string {
  if (depth > maxDepth) return ''
  if (typeof body === 'string') {
    const inner = parseJson(body)
    return (inner === undefined ? '' : messageOf(inner, depth + 1)) || body
  }
  if (Array.isArray(body)) return problemsOf(body, depth)
  if (!isObject(body)) return ''
  const raw = rawOf(body)
  if (raw !== undefined) return messageOf(raw, depth + 1)
  const messages = messageFields.map((name) => messageOf(body[name], depth + 1))
  const [error = '', message = ''] = messages
  // `{error: "Bad Request", message: "..."}`: the first is only the name of a status.
  if (typeof body['error'] === 'string' && message !== '') return `${error}: ${message}`
  return messages.find((errorText) => errorText !== '') ?? ''
}

/** FastAPI's `[{loc, msg}]`, each problem by its field; the first of any other list. */
function problemsOf(list: readonly unknown[], depth: number): string {
  const problems = list.filter(isObject).filter(({ msg }) => typeof msg === 'string')
  if (problems.length === 0) return messageOf(list[0], depth + 1)
  return problems
    .slice(0, maxProblems)
    .map(({ loc, msg }) => [pathOf(loc), toText(msg)].filter((part) => part !== '').join(': '))
    .join('; ')
}

/** Returns the path of a problem, without the name for the whole request before it. */
function pathOf(loc: unknown): string {
  const steps = Array.isArray(loc) ? loc : []
  const namedSteps = steps.filter((step) => typeof step === 'string' || typeof step === 'number')
  return (namedSteps[0] === 'body' ? namedSteps.slice(1) : namedSteps).join('.')
}

/** The field of the first problem of such a list: the list stands in `detail`, or in a `message`. */
function fieldOf({ detail, message }: JsonObject): string {
  const list = Array.isArray(detail) ? detail : isObject(message) ? message['detail'] : undefined
  const first: unknown = Array.isArray(list) ? list[0] : undefined
  return isObject(first) ? pathOf(first['loc']) : ''
}

/** Returns the error text of a gateway's upstream, where the gateway reports no more than the failure. */
function rawOf({ metadata }: JsonObject): string | undefined {
  const raw = isObject(metadata) ? metadata['raw'] : undefined
  return typeof raw === 'string' && raw !== '' ? raw : undefined
}

/** An object that was put into a text. */
function parseJson(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return undefined
  try {
    const value: unknown = parseShaped(text, eventShape)
    return isObject(value) || Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}

const unwrapped = (body: unknown, depth: number): unknown =>
  typeof body === 'string' && depth <= maxDepth ? (parseJson(body) ?? body) : body

function coreOf(body: unknown, depth: number): JsonObject {
  if (depth > maxDepth) return {}
  if (Array.isArray(body)) return coreOf(body[0], depth + 1)
  if (!isObject(body)) return {}
  const raw = rawOf(body)
  const inner = raw === undefined ? undefined : unwrapped(raw, depth)
  if (isObject(inner)) return { ...body, ...coreOf(inner, depth + 1) }
  const error = unwrapped(body['error'], depth)
  return isObject(error) || Array.isArray(error) ? coreOf(error, depth + 1) : body
}

/** Codes are numbers, words or both; the subject of an error may stand beside them. */
function codesOf(core: JsonObject): string[] {
  const { metadata, innererror } = core
  const beside = [metadata, innererror].filter(isObject)
  const values = [
    core['code'],
    core['type'],
    core['status'],
    core['error_type'],
    core['__type'],
    ...beside.flatMap((inner) => [inner['code'], inner['error_type']]),
  ]
  return values
    .filter((value) => typeof value === 'string' || typeof value === 'number')
    .map((value) => String(value).toLowerCase())
}

/** Parses the text of an error as JSON; returns other text as it is. */
export function parseErrorBody(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
