import { HeadFields, trimBlanks } from './head-fields'

/** The way in which the end of a body is found. Source: RFC 9112, 6.3. */
export type Framing = 'none' | 'length' | 'chunked' | 'until-close'

/** The first lines of an answer. */
export interface AnswerHead {
  status: number
  fields: HeadFields
  framing: Framing
  /** Bytes of the body; only where its framing is `length`. */
  length: number
  /** The time for which the idle connection may be reused, in milliseconds; 0: never. */
  keepMs: number
}

/** An answer that is not HTTP/1.1, or is ambiguous. */
export class MalformedAnswer extends Error {
  override readonly name = 'MalformedAnswer'
}

/** The idle time of servers that state none: most close after a minute or more; some after five seconds. */
const usualKeepMs = 30_000
/** The time for a server's close to arrive here. */
const marginMs = 1000

/** The status line, and one line a field: not folded, no blank before a colon, no control characters. */
const shape =
  /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [\t -~\x80-\xff]*)?(?:\r\n[\w!#$%&'*+.^`|~-]+:[\t -~\x80-\xff]*)*$/

/** Parses a head, without the empty line at its end. Throws `MalformedAnswer`. */
export function parseHead(text: string): AnswerHead {
  const [, minor, digits] = shape.exec(text) ?? []
  if (digits === undefined) return parseLoose(text)
  const status = Number(digits)
  const fields = new HeadFields(text)
  const framing = framingOf(status, fields)
  const length = framing === 'length' ? lengthOf(fields.get('content-length') ?? '') : 0
  const isReusable = framing !== 'until-close' && !isAmbiguous(framing, fields, minor)
  return { status, fields, framing, length, keepMs: isReusable ? keepMsOf(fields, minor) : 0 }
}

/**
 * Parses a head with lines that end without CR. Other clients may read another head from it, so that its connection is
 * not reused. Source: RFC 9112, 2.2.
 */
function parseLoose(text: string): AnswerHead {
  const strict = text.replaceAll(/\r?\n/g, '\r\n')
  if (strict === text) throw new MalformedAnswer('the head of the answer is not HTTP/1.1')
  return { ...parseHead(strict), keepMs: 0 }
}

function framingOf(status: number, fields: HeadFields): Framing {
  if (status < 200 || status === 204 || status === 304) return 'none'
  const coding = fields.get('transfer-encoding')
  if (coding !== undefined) {
    if (coding.toLowerCase() === 'chunked') return 'chunked'
    throw new MalformedAnswer('the answer has an unknown transfer encoding')
  }
  return fields.has('content-length') ? 'length' : 'until-close'
}

/**
 * Whether the sender may see the end of the body at another place, so that the rest would be read as the next answer:
 * with two ends, with chunks in HTTP/1.0, and with a body where none can be. Source: RFC 9112, 6.1 and 6.3.
 */
function isAmbiguous(framing: Framing, fields: HeadFields, minor: string | undefined): boolean {
  const isCoded = fields.has('transfer-encoding')
  if (framing !== 'none') return isCoded && (minor === '0' || fields.has('content-length'))
  return isCoded || !/^0?$/.test(fields.get('content-length') ?? '')
}

const isDigits = /^\d{1,15}$/

/** Parses Content-Length, which may be sent several times with the same value. */
function lengthOf(value: string): number {
  return isDigits.test(value) ? Number(value) : repeatedLengthOf(value)
}

function repeatedLengthOf(value: string): number {
  const [first = '', ...others] = value.split(',').map((part) => trimBlanks(part, 0, part.length))
  if (!isDigits.test(first) || others.some((other) => other !== first)) {
    throw new MalformedAnswer('the answer has no valid length')
  }
  return Number(first)
}

function keepMsOf(fields: HeadFields, minor: string | undefined): number {
  const connection = fields.get('connection')?.toLowerCase() ?? ''
  if (/\b(?:close|upgrade)\b/.test(connection)) return 0
  if (minor === '0' && !/(?:^|,)[\t ]*keep-alive[\t ]*(?:,|$)/.test(connection)) return 0
  const announced = /\btimeout=(\d{1,6})\b/i.exec(fields.get('keep-alive') ?? '')?.[1]
  if (announced === undefined) return usualKeepMs
  return Math.min(Math.max(Number(announced) * 1000 - marginMs, 0), usualKeepMs)
}
