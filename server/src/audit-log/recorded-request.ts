import { withoutSecrets } from '../request-logs/redact-body'

/** The maximum that the audit log keeps of a body, in bytes of its JSON. */
export const maxRecordedBytes = 16 * 1024
const cutMark = '[cut]'
const setMark = '[set]'

type Json = Record<string, unknown>

/** Names of fields that hold a secret, however their words are joined: `api_key`, `clientSecret`. */
const secretName =
  /(^|_)(api)?(keys?|secrets?|passwords?|passphrases?|credentials?|token|authorization|cookies?|headers)$/

/** Not a secret: the key of a provider is the name by which models are called. */
const plainNames: Readonly<Record<string, readonly string[]>> = {
  'POST /api/admin/providers': ['key'],
}

const snakeCase = (name: string) =>
  name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replaceAll('-', '_')
    .toLowerCase()

/** An address may contain a name and a password. */
const userInfo = /(\/\/)[^/\s?#@]*@/g
/** A query may contain a secret. */
const secretParameter = /([?&][^=&#\s]*(?:key|secret|token|password|signature)[^=&#\s]*=)[^&#\s]*/gi

/** Returns a text without anything that looks like a secret, and without credentials in its addresses. */
export const cleanText = (text: string) =>
  withoutSecrets(text)
    .replaceAll(userInfo, `$1${setMark}@`)
    .replaceAll(secretParameter, `$1${setMark}`)

function clean(value: unknown): unknown {
  if (typeof value === 'string') return cleanText(value)
  if (Array.isArray(value)) return value.map(clean)
  if (typeof value === 'object' && value !== null) return cleanFields(value)
  return value
}

const cleanFields = (fields: object, plain: readonly string[] = []): Json =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      cleanText(name),
      isSecret(name, value) && !plain.includes(name) ? setMark : clean(value),
    ]),
  )

/** Removing a secret reveals none, and numbers and booleans are none. */
const isSecret = (name: string, value: unknown) =>
  secretName.test(snakeCase(name)) &&
  value !== null &&
  typeof value !== 'number' &&
  typeof value !== 'boolean'

const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value))

/**
 * Returns fields as the audit log keeps them, such as the body of an operator's request: `[set]` in place of what is a
 * secret by its name, no text that looks like one, and at most 16 KB by default. The longest fields are cut first;
 * those whose names alone do not fit are left out. `action` is the route, or the action in an organization.
 */
export function toRecordedFields(
  action: string,
  fields: Readonly<Json>,
  maxBytes = maxRecordedBytes,
): Json {
  const recordedFields = cleanFields(fields, plainNames[action])
  let bytes = bytesOf(recordedFields)
  if (bytes <= maxBytes) return recordedFields
  const bySize = Object.entries(recordedFields)
    .map(([name, value]) => ({ name, size: bytesOf(value) }))
    .toSorted((one, other) => other.size - one.size)
  for (const { name, size } of bySize) {
    recordedFields[name] = cutMark
    bytes -= size - bytesOf(cutMark)
    if (bytes <= maxBytes) return recordedFields
  }
  return { [cutMark]: `${Object.keys(recordedFields).length} fields` }
}
