import { invalidRequest } from '../errors'

/** Passwords may contain any control character but NUL. */
const isSecret = (name: string) => /password/i.test(name)

const anyControl = /\p{Cc}/u

/**
 * Throws `invalid_request` for a JSON body with a control character in a name or a string: PostgreSQL stores no
 * NUL, and the others have no place in an address, a name or a token. A body that is not JSON passes; its reader
 * rejects it.
 */
export function refuseControlCharacters(text: string): void {
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    if (text.includes('\0') || text.includes('%00')) throw refusal('body')
    return
  }
  // A work list instead of recursion: deep nesting costs no stack.
  const pending: { name: string; value: unknown }[] = [{ name: 'body', value: body }]
  for (let one = pending.pop(); one; one = pending.pop()) {
    const { name, value } = one
    if (typeof value === 'string') {
      if (isSecret(name) ? value.includes('\0') : anyControl.test(value)) throw refusal(name)
    } else if (typeof value === 'object' && value !== null) {
      for (const [key, inner] of Object.entries(value)) {
        if (anyControl.test(key)) throw refusal('body')
        pending.push({ name: Array.isArray(value) ? name : key, value: inner })
      }
    }
  }
}

const refusal = (name: string) =>
  invalidRequest(
    name === 'body' ? null : name,
    'bad_format',
    `${name}: contains a control character.`,
  )
