/** The required result of a client for an answer: its status and body, or a rejection. */
export type VectorOutcome = Accepted | 'rejected'

interface Accepted {
  status: number
  /** One character for each byte. */
  body: string
  /** Whether the next request may use the same connection. */
  isReusable: boolean
}

/** The state in which the sender leaves the connection after its bytes: open, closed in order, or reset. */
type Ending = 'open' | 'fin' | 'reset'

/** Bytes that a server may send as its answer to `POST / HTTP/1.1`, and the required result of a client. */
export interface Vector {
  /** The deciding section of the RFC. */
  source: string
  name: string
  /** One character for each byte. */
  bytes: string
  ending: Ending
  outcome: VectorOutcome
  /** Fields that the answer must have, by their names; null: must not have. */
  fields: Readonly<Record<string, string | null>>
}

type Verdict = Pick<Vector, 'ending' | 'outcome' | 'fields'>

interface More {
  status?: number
  fields?: Vector['fields']
}

const accepted = (accept: Accepted, ending: Ending, fields: Vector['fields'] = {}): Verdict => ({
  ending,
  outcome: accept,
  fields,
})

/** Accepted, and the connection serves the next request. */
export const keeps = (body: string, { status = 200, fields }: More = {}) =>
  accepted({ status, body, isReusable: true }, 'open', fields)

/** Accepted as the last answer on its connection: other clients may find another end of it. */
export const closes = (body: string, { status = 200, fields }: More = {}) =>
  accepted({ status, body, isReusable: false }, 'open', fields)

/** Accepted, as the connection has been closed in order. */
export const endsWithClose = (body: string, { status = 200, fields }: More = {}) =>
  accepted({ status, body, isReusable: false }, 'fin', fields)

/** Rejected at once, though the connection stays open. */
export const rejected: Verdict = { ending: 'open', outcome: 'rejected', fields: {} }

/** Rejected, as the connection has been closed before the end. */
export const incomplete: Verdict = { ending: 'fin', outcome: 'rejected', fields: {} }

/** Rejected, as the connection was reset. */
export const reset: Verdict = { ending: 'reset', outcome: 'rejected', fields: {} }

/** Builds the vectors of one section, by their names. */
export const section = (
  source: string,
  cases: Readonly<Record<string, readonly [bytes: string, verdict: Verdict]>>,
): Vector[] =>
  Object.entries(cases).map(([name, [bytes, verdict]]) => ({ source, name, bytes, ...verdict }))

const maxNameLength = 50

/** Builds vectors with one outcome for variants of a text, each named by itself. Throws where two have one name. */
export function each(
  variants: readonly string[],
  bytesOf: (variant: string) => string,
  verdict: Verdict,
): Record<string, readonly [string, Verdict]> {
  const named = variants.map((variant): [string, [string, Verdict]] => [
    variant.length > maxNameLength
      ? `${JSON.stringify(variant.slice(0, maxNameLength))} and on, ${variant.length} bytes`
      : JSON.stringify(variant),
    [bytesOf(variant), verdict],
  ])
  const cases = Object.fromEntries(named)
  if (Object.keys(cases).length !== variants.length) throw new Error('two variants have one name')
  return cases
}

/** Joins lines to a head, its empty line included. */
export const head = (...lines: string[]) => `${lines.join('\r\n')}\r\n\r\n`

export const ok = (...fields: string[]) => head('HTTP/1.1 200 OK', ...fields)

/** A good answer with these lines added to its own. */
export const okWith = (...fields: string[]) => `${ok(...fields, 'content-length: 2')}ok`

export const chunked = (body: string, ...fields: string[]) =>
  `${ok(...fields, 'transfer-encoding: chunked')}${body}`

/** Returns all control characters except those given. */
export const controlsBut = (but: string): string[] =>
  [...Array.from({ length: 32 }, (_, code) => String.fromCodePoint(code)), '\x7f'].filter(
    (control) => !but.includes(control),
  )
