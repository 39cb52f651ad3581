import type { z } from 'zod'
import { invalidRequest, type ApiError, type Issue } from '../errors'

type ZodIssue = z.core.$ZodIssue
type Path = readonly PropertyKey[]

/**
 * Makes an issue of one of our own rules in a schema: `ctx.addIssue(broken('conflict', 'words',
 * ['field']))`.
 */
export const customIssue = (issue: Issue, message: string, path: PropertyKey[] = []) => ({
  code: 'custom' as const,
  params: { issue },
  message,
  path,
})

/** A fault by a rule of our own. */
export type CustomIssue = ReturnType<typeof customIssue>

/** The first fault that a schema found in `value`, as `invalid_request` with `param` and `issue`. */
export function toFieldError(error: Pick<z.core.$ZodError, 'issues'>, value: unknown): ApiError {
  const [first] = error.issues
  if (!first) return invalidRequest(null, 'wrong_type', 'The request is not valid.')
  const { issue, path, message } = explain(first, value, [])
  const param = path.length > 0 ? path.map(String).join('.') : null
  return invalidRequest(param, issue, param ? `${param}: ${message}` : message)
}

interface FieldIssue {
  issue: Issue
  path: Path
  message: string
}

function explain(fault: ZodIssue, value: unknown, base: Path): FieldIssue {
  const path = [...base, ...fault.path]
  const received = valueAt(value, fault.path)
  if (fault.code === 'invalid_union') return explainUnion(fault, received, path)
  if (fault.code !== 'custom' && received === undefined) {
    return { issue: 'required', path, message: 'this field is required.' }
  }
  return { issue: issueOf(fault, received), path, message: formatIssue(fault, received) }
}

/**
 * Explains an error of a union, which names every member's issues: the member that matched furthest shows
 * what was meant.
 */
function explainUnion(
  fault: Extract<ZodIssue, { code: 'invalid_union' }>,
  received: unknown,
  path: Path,
): FieldIssue {
  if (received === undefined) return { issue: 'required', path, message: 'this field is required.' }
  const candidates = fault.errors.flatMap(([first]) =>
    first ? [explain(first, received, path)] : [],
  )
  const isAboutType = ({ issue }: FieldIssue) => issue === 'wrong_type'
  const best = candidates.toSorted(
    (a, b) => Number(isAboutType(a)) - Number(isAboutType(b)) || b.path.length - a.path.length,
  )[0]
  if (!best) {
    // A discriminated union whose discriminator fits no member.
    return { issue: 'unknown_value', path, message: 'must be one of the allowed values.' }
  }
  return best.path.length === path.length && isAboutType(best)
    ? { ...best, message: `${typeName(received)} is not allowed here.` }
    : best
}

function valueAt(value: unknown, path: Path): unknown {
  let received = value
  for (const step of path) {
    if (typeof received !== 'object' || received === null) return undefined
    received = Reflect.get(received, step)
  }
  return received
}

function issueOf(fault: ZodIssue, received: unknown): Issue {
  switch (fault.code) {
    case 'too_small':
      return sizeIssue(fault.origin, 'too_short', 'empty')
    case 'too_big':
      return sizeIssue(fault.origin, 'too_long', 'too_many')
    case 'invalid_value':
      return fault.values.some((allowed) => typeof allowed === typeof received)
        ? 'unknown_value'
        : 'wrong_type'
    case 'invalid_format':
      return 'bad_format'
    case 'not_multiple_of':
      return 'out_of_range'
    case 'custom':
      return fault.params?.['issue'] ?? 'wrong_type'
    default:
      return 'wrong_type'
  }
}

function sizeIssue(origin: string, ofText: Issue, ofEntries: Issue): Issue {
  if (origin === 'string') return ofText
  return origin === 'array' || origin === 'object' ? ofEntries : 'out_of_range'
}

function formatIssue(fault: ZodIssue, received: unknown): string {
  switch (fault.code) {
    case 'invalid_type':
      return `${typeName(received)} was sent where ${fault.expected} is expected.`
    case 'invalid_value':
      return `must be ${fault.values.map((value) => JSON.stringify(value)).join(', ')}.`
    case 'too_small':
      return `must ${formatUnit(fault.origin)} at least ${fault.minimum}.`
    case 'too_big':
      return `must ${formatUnit(fault.origin)} at most ${fault.maximum}.`
    default:
      return fault.message
  }
}

function formatUnit(origin: string): string {
  if (origin === 'string') return 'have a length of'
  return origin === 'array' || origin === 'object' ? 'have a number of entries of' : 'be'
}

function typeName(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'an array' : `a value of type ${typeof value}`
}
