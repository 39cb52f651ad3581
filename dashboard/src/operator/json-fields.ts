/** A value as a field of a form shows it; empty where there is nothing in it. */
export function jsonTextOf(value: unknown): string {
  const isEmpty = typeof value !== 'object' || value === null || Object.keys(value).length === 0
  return isEmpty ? '' : JSON.stringify(value, undefined, 2)
}

/** Why a text is no JSON; null where it is, or is empty. */
export function jsonProblem(text: string): string | null {
  if (text.trim() === '') return null
  try {
    JSON.parse(text)
    return null
  } catch {
    return 'This is not valid JSON.'
  }
}

/** Changed fields, those of `names` as the values that their texts mean; an empty one is `{}`. */
export const toJsonFields = (changes: object, names: readonly string[]): object =>
  Object.fromEntries(
    Object.entries(changes).map(([name, value]: [string, unknown]) => {
      if (!names.includes(name)) return [name, value]
      return [name, typeof value === 'string' ? JSON.parse(value) : {}]
    }),
  )
