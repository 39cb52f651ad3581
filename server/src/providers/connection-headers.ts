import { hopsHeader } from '../wire/forwarding-loop'

/** The headers that a connection adds to each request: name in lower case -> value. */
export type ConnectionHeaders = Readonly<Record<string, string>>

/**
 * Names that no connection may set: those of one hop, those that describe body and answer, which Tollgate sets with each
 * request, and those of credentials, which belong into the connection's secret.
 */
const reservedNames: ReadonlySet<string> = new Set([
  'accept',
  'accept-encoding',
  'authorization',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'cookie',
  'expect',
  'host',
  'keep-alive',
  'te',
  'traceparent',
  'tracestate',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'x-amz-content-sha256',
  'x-amz-date',
  'x-amz-security-token',
  hopsHeader,
])

/** Whether connections may not set the header, by its name in lower case. */
export const isReservedHeader = (name: string): boolean =>
  reservedNames.has(name) || name.startsWith('proxy-')

/** Returns the headers of a connection that are sent; null where it has none. */
export function toConnectionHeaders(stored: ConnectionHeaders = {}): ConnectionHeaders | null {
  const headers = Object.entries(stored).filter(([name]) => !isReservedHeader(name))
  return headers.length > 0 ? Object.fromEntries(headers) : null
}
