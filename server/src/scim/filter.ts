import { toAttributeName } from './names'
import { badRequest, type ScimError } from './scim-error'

/** A comparison: the attribute, its name in lower case, equals the value. */
export interface Condition {
  attribute: string
  value: string | number | boolean | null
}

/** The attribute that a PATCH changes: `emails[type eq "work"].value` has conditions and a part. */
export interface AttributePath {
  /** In lower case, with its part where no condition is before it: `name.givenname`. */
  attribute: string
  conditions: readonly Condition[]
  part?: string
}

const maxFilter = 1000
const maxConditions = 10

/** A text in quotation marks as JSON has it, a bracket, or a word. */
const tokenPattern = /\s*(?:("(?:[^"\\\p{Cc}]|\\.)*")|([()[\]])|([^\s()[\]"]+))/uy
const namePattern = /^[a-z$][\w$:.-]*$/i

interface Cursor {
  tokens: readonly string[]
  at: number
  toError: (message: string) => ScimError
}

/**
 * Returns the conditions of a filter, all of which must hold: comparisons by `eq`, joined by `and`. Throws `invalidFilter`
 * for a filter with other operators. Source: RFC 7644 3.4.2.2.
 */
export function parseFilter(filter: string): Condition[] {
  const cursor = openCursor(filter, (message) =>
    badRequest('invalidFilter', `filter: ${message} It has comparisons by eq, joined by and.`),
  )
  const conditions = readConditions(cursor)
  checkEnd(cursor)
  return conditions
}

/** Returns the parts of a path. Throws `invalidPath`. Source: RFC 7644 3.5.2. */
export function parsePath(path: string): AttributePath {
  const cursor = openCursor(path, (message) => badRequest('invalidPath', `path: ${message}`))
  const attribute = readName(cursor)
  if (cursor.tokens[cursor.at] !== '[') {
    checkEnd(cursor)
    return { attribute, conditions: [] }
  }
  cursor.at++
  const conditions = readConditions(cursor)
  expectToken(cursor, ']')
  const part = readPart(cursor)
  checkEnd(cursor)
  return { attribute, conditions, ...(part !== undefined && { part }) }
}

function openCursor(source: string, toError: Cursor['toError']): Cursor {
  if (source.length > maxFilter) throw toError(`it has more than ${maxFilter} characters.`)
  const tokens: string[] = []
  const trimmed = source.trimEnd()
  tokenPattern.lastIndex = 0
  while (tokenPattern.lastIndex < trimmed.length) {
    const [, text, bracket, word] = tokenPattern.exec(trimmed) ?? []
    const token = text ?? bracket ?? word
    if (token === undefined) throw toError('a quotation mark is not closed.')
    tokens.push(token)
  }
  return { tokens, at: 0, toError }
}

/** Reads comparisons up to a closing bracket or the end. */
function readConditions(cursor: Cursor): Condition[] {
  const conditions = readTerm(cursor)
  while (cursor.tokens[cursor.at]?.toLowerCase() === 'and') {
    cursor.at++
    conditions.push(...readTerm(cursor))
  }
  if (conditions.length <= maxConditions) return conditions
  throw cursor.toError(`it has more than ${maxConditions} comparisons.`)
}

function readTerm(cursor: Cursor): Condition[] {
  if (cursor.tokens[cursor.at] === '(') {
    cursor.at++
    const conditions = readConditions(cursor)
    expectToken(cursor, ')')
    return conditions
  }
  const attribute = readName(cursor)
  if (cursor.tokens[cursor.at] !== '[') return [readComparison(cursor, attribute)]
  cursor.at++
  const conditions = readConditions(cursor).map((condition) => ({
    ...condition,
    attribute: `${attribute}.${condition.attribute}`,
  }))
  expectToken(cursor, ']')
  const part = readPart(cursor)
  if (part !== undefined) conditions.push(readComparison(cursor, `${attribute}.${part}`))
  return conditions
}

function readComparison(cursor: Cursor, attribute: string): Condition {
  const operator = cursor.tokens[cursor.at++] ?? ''
  if (operator.toLowerCase() !== 'eq') {
    throw cursor.toError(`the operator "${operator.slice(0, 40)}" is not supported.`)
  }
  return { attribute, value: readValue(cursor) }
}

/** Reads a value as JSON has it. */
function readValue(cursor: Cursor): Condition['value'] {
  const token = cursor.tokens[cursor.at++] ?? ''
  try {
    const value: unknown = JSON.parse(token)
    if (isValue(value)) return value
  } catch {
    // Words such as `True` are no JSON.
  }
  throw cursor.toError(`"${token.slice(0, 40)}" is no value.`)
}

const isValue = (value: unknown): value is Condition['value'] =>
  value === null || ['string', 'number', 'boolean'].includes(typeof value)

function readName(cursor: Cursor): string {
  const token = cursor.tokens[cursor.at++] ?? ''
  if (namePattern.test(token)) return toAttributeName(token)
  throw cursor.toError(`"${token.slice(0, 40)}" is no attribute.`)
}

/** Reads the part after a closing bracket: `.value`. */
function readPart(cursor: Cursor): string | undefined {
  const token = cursor.tokens[cursor.at]
  if (token === undefined || !token.startsWith('.')) return undefined
  cursor.at++
  const name = token.slice(1)
  if (namePattern.test(name)) return name.toLowerCase()
  throw cursor.toError(`"${token.slice(0, 40)}" is no attribute.`)
}

function expectToken(cursor: Cursor, token: string): void {
  if (cursor.tokens[cursor.at++] !== token) throw cursor.toError(`"${token}" is missing.`)
}

function checkEnd({ tokens, at, toError }: Cursor): void {
  const rest = tokens[at]
  if (rest !== undefined) throw toError(`"${rest.slice(0, 40)}" is not expected.`)
}
