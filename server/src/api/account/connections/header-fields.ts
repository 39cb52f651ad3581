import { z } from 'zod'
import { invalidRequest } from '../../../errors'
import { isReservedHeader, type ConnectionHeaders } from '../../../providers/connection-headers'
import { isSecretHeader } from '../../../providers/credentials'
import type { Provider } from '../../../providers/provider'
import { customIssue } from '../../../wire/field-error'
import { mapOf } from '../../../wire/fields'

const maxNameLength = 100
const maxValueLength = 4096
const maxHeaders = 20
/** Each may be replaced by another one. */
const maxChanges = 2 * maxHeaders
/** Many servers take no longer heads than this. */
const maxHeadersLength = 8192

const namePattern = /^[a-z\d][\w-]*$/

const headerValue = z
  .string()
  .trim()
  .min(1)
  .max(maxValueLength)
  .regex(/^[\t\x20-\x7e]*$/, 'must be printable ASCII, on one line.')

type HeaderChanges = Readonly<Record<string, string | null>>

/** Changes of a connection's headers by name; null removes one, and one that is absent stays. */
export const HeaderFields = mapOf(z.string(), headerValue.nullable(), maxChanges)
  .superRefine((headers, ctx) => {
    const names = new Set<string>()
    for (const name of Object.keys(headers)) {
      const path = [name.slice(0, maxNameLength)]
      const lowerName = name.toLowerCase()
      if (!namePattern.test(lowerName) || name.length > maxNameLength) {
        const message = 'must be named by letters, digits, "-" and "_", at most 100 of them.'
        ctx.addIssue(customIssue('bad_format', message, path))
      } else if (isReservedHeader(lowerName)) {
        ctx.addIssue(customIssue('not_allowed', 'cannot be set by a connection.', path))
      } else if (names.has(lowerName)) {
        ctx.addIssue(customIssue('conflict', 'was given twice.', path))
      }
      names.add(lowerName)
    }
  })
  .transform((headers) =>
    Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
  )

/** Throws `invalid_request` for a header that carries the secret of the provider's connections. */
export function refuseSecretHeaders(
  provider: Provider | undefined,
  headers: HeaderChanges | null | undefined,
): void {
  if (!provider || !headers) return
  const name = Object.keys(headers).find((one) => isSecretHeader(provider, one))
  if (name === undefined) return
  const param = `network.headers.${name}`
  throw invalidRequest(param, 'not_allowed', `${param}: carries the API key of ${provider.name}.`)
}

/** Returns the headers that changes leave. Throws `invalid_request` where they are too many or too long. */
export function changeHeaders(
  before: ConnectionHeaders,
  changes: HeaderChanges,
): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries({ ...before, ...changes })) {
    if (value !== null) headers[name] = value
  }
  const param = 'network.headers'
  const entries = Object.entries(headers)
  if (entries.length > maxHeaders) {
    throw invalidRequest(param, 'too_many', `${param}: a connection has at most ${maxHeaders}.`)
  }
  const length = entries.reduce((sum, [name, value]) => sum + name.length + value.length, 0)
  if (length > maxHeadersLength) {
    const message = `${param}: names and values have at most ${maxHeadersLength} characters together.`
    throw invalidRequest(param, 'too_long', message)
  }
  return headers
}
