import type { PartialArg } from './events'
import type { ArgumentsLength } from '../../wire/call-arguments'

type Container = Record<string, unknown> | unknown[]

const maxArrayLength = 10_000
const step = /\.([A-Za-z_$][\w$-]*)|\[(\d+)\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]/y

/** The keys of a path such as `$.a[0]['b c']`; undefined for one that is none, or means harm. */
export function parseJsonPath(path: string): (string | number)[] | undefined {
  if (!path.startsWith('$')) return undefined
  const keys: (string | number)[] = []
  step.lastIndex = 1
  while (step.lastIndex < path.length) {
    const [match, word, index, single, double] = step.exec(path) ?? []
    if (match === undefined) return undefined
    const key = index === undefined ? unescaped(word ?? single ?? double ?? '') : Number(index)
    if (key === '__proto__' || (typeof key === 'number' && key >= maxArrayLength)) return undefined
    keys.push(key)
  }
  return keys
}

const unescaped = (text: string) => text.replaceAll(/\\(.)/g, '$1')

/** The characters of the arguments' JSON that an index adds which leaves places of an array empty: a null for each. */
const gapLength = (container: Container, key: string | number) =>
  Array.isArray(container) && typeof key === 'number'
    ? Math.max(0, key - container.length) * 'null,'.length
    : 0

/**
 * Adds a piece to the arguments of a call: texts grow, of anything else the last value counts. False for a
 * path that does not fit the arguments so far. `length` gets what the piece adds beside its own characters.
 */
export function addPiece(
  args: Record<string, unknown>,
  piece: PartialArg,
  length: Pick<ArgumentsLength, 'add'>,
): boolean {
  const keys = parseJsonPath(piece.jsonPath)
  const last = keys?.pop()
  if (!keys || last === undefined) return false
  let container: Container = args
  for (const [position, key] of keys.entries()) {
    const next = keys[position + 1] ?? last
    length.add(gapLength(container, key))
    const inner: unknown =
      within(container, key) ?? setChild(container, key, typeof next === 'number' ? [] : {})
    if (!isContainer(inner)) return false
    container = inner
  }
  length.add(gapLength(container, last))
  const before = within(container, last)
  const value = valueOf(piece)
  const grown = typeof before === 'string' && typeof value === 'string' ? before + value : value
  return setChild(container, last, grown) !== undefined
}

const isContainer = (value: unknown): value is Container =>
  typeof value === 'object' && value !== null

function within(container: Container, key: string | number): unknown {
  if (Array.isArray(container)) return typeof key === 'number' ? container[key] : undefined
  return Object.hasOwn(container, key) ? container[key] : undefined
}

function setChild(container: Container, key: string | number, value: unknown): unknown {
  if (!Array.isArray(container)) container[key] = value
  else if (typeof key === 'number') container[key] = value
  else return undefined
  return value
}

/** A piece without any value is a null. */
const valueOf = ({ stringValue, numberValue, boolValue }: PartialArg) =>
  stringValue ?? numberValue ?? boolValue ?? null
