/** Formats a value for a JSON field; empty when the value has no content. */
export function jsonTextOf(value: unknown): string {
  const isEmpty = typeof value !== 'object' || value === null || Object.keys(value).length === 0
  return isEmpty ? '' : JSON.stringify(value, undefined, 2)
}

/** Returns the error of an invalid JSON text; null when it is valid or empty. */
export function jsonProblem(text: string): string | null {
  if (text.trim() === '') return null
  try {
    JSON.parse(text)
    return null
  } catch {
    return 'This is not valid JSON.'
  }
}

/** Parses a valid JSON text; an empty one is an object without fields. */
export const fromJson = (text: string) => JSON.parse(text.trim() === '' ? '{}' : text)
