import { hostname } from 'node:os'
import type { AuditEntry } from '../entries'

/** Facility 13, log audit, and severity 5, notice. Source: RFC 5424, 6.2.1. */
const priority = 13 * 8 + 5
const version = 1
const appName = 'tollgate'
const nothing = '-'

/** A field of a header: printable ASCII without spaces, of bounded length. Source: RFC 5424, 6. */
const toField = (text: string, max: number) =>
  text.replaceAll(/[^\x21-\x7E]/g, '').slice(0, max) || nothing

/** JSON in ASCII alone: text in UTF-8 would begin with a byte order mark, which few readers of JSON take. */
const toAsciiJson = (value: unknown) =>
  JSON.stringify(value).replaceAll(
    /[\u007F-\uFFFF]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

const maxHostName = 255
const maxMessageId = 32

/** The kind of an entry, by which servers sort: `member.suspended`, `operator.user`. */
const toMessageId = (entry: AuditEntry) =>
  toField(entry.log === 'operators' ? `operator.${entry.object_kind}` : entry.action, maxMessageId)

/**
 * Formats an entry as a message, whose text is the entry as JSON.
 * @see https://www.rfc-editor.org/rfc/rfc5424#section-6
 */
export const toSyslogMessage = (entry: AuditEntry, host = hostname()): string =>
  `<${priority}>${version} ${entry.created_at} ${toField(host, maxHostName)} ${appName} ${nothing} ${toMessageId(entry)} ${nothing} ${toAsciiJson(entry)}`

/**
 * Frames a message by its length. A message is ASCII: its characters are its octets.
 * @see https://www.rfc-editor.org/rfc/rfc6587#section-3.4.1
 * @see https://www.rfc-editor.org/rfc/rfc5425#section-4.3
 */
export const toSyslogFrame = (message: string): string => `${message.length} ${message}`

/** The server of a destination: `tls://siem.example.com:6514`, or `tcp://…`. Undefined for another URL. */
export function parseSyslogUrl(text: string) {
  const [, scheme, host = '', port = ''] =
    /^(tls|tcp):\/\/(\[[\da-f:.]+\]|[a-z\d.-]+):(\d{1,5})\/?$/i.exec(text) ?? []
  if (scheme === undefined || Number(port) === 0 || Number(port) > 65_535) return undefined
  return {
    host: host.replaceAll(/^\[|\]$/g, '').toLowerCase(),
    port: Number(port),
    isSecure: scheme.toLowerCase() === 'tls',
  }
}
