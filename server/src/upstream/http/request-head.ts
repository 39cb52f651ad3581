/** Header fields by their names. */
export type HeaderList = Readonly<Record<string, string>>

const isName = /^[\w!#$%&'*+.^`|~-]+$/
const isValue = /^[\t\x20-\x7e]*$/

/** Caches the lines: every request on a connection brings the same object. */
const remembered = new WeakMap<HeaderList, string>()

/**
 * Formats header fields, a line each. Throws where one could be read as more than one, or contains an invalid
 * character; the message contains no value, as that may be a credential.
 */
export function formatFieldLines(headers: HeaderList): string {
  const knownHead = remembered.get(headers)
  if (knownHead !== undefined) return knownHead
  let lines = ''
  for (const [name, value] of Object.entries(headers)) {
    if (!isName.test(name)) throw new TypeError('a header has a name that cannot be sent')
    if (!isValue.test(value))
      throw new TypeError(`the header ${name} cannot be sent: it has other than printable ASCII`)
    lines += `${name}: ${value}\r\n`
  }
  remembered.set(headers, lines)
  return lines
}
