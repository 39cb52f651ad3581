/** The beginnings of fields by their names, of which the code has a few dozen. */
const beginnings = new Map<string, string>()

function beginningOf(name: string): string {
  const knownBeginning = beginnings.get(name)
  if (knownBeginning !== undefined) return knownBeginning
  const beginning = `\r\n${name}:`
  beginnings.set(name, beginning)
  return beginning
}

/** The fields of a head, searched on demand: of two dozen that are sent, few are used. */
export class HeadFields {
  readonly #text: string
  /** Lower case keeps the length: a head has no letters beyond Latin. */
  readonly #lower: string

  /** `text`: lines that end with CRLF except the last; the first is not a field. */
  constructor(text: string) {
    this.#text = text
    this.#lower = text.toLowerCase()
  }

  has(name: string): boolean {
    return this.#lower.includes(beginningOf(name))
  }

  /** By a name in lower case; values of a field sent several times are joined by `, `. */
  get(name: string): string | undefined {
    const sought = beginningOf(name)
    let foundValue: string | undefined
    for (let at = this.#lower.indexOf(sought); at >= 0;) {
      const from = at + sought.length
      const end = this.#text.indexOf('\r\n', from)
      const value = trimBlanks(this.#text, from, end < 0 ? this.#text.length : end)
      foundValue = foundValue === undefined ? value : `${foundValue}, ${value}`
      at = end < 0 ? -1 : this.#lower.indexOf(sought, end)
    }
    return foundValue
  }
}

/**
 * Returns the part of a text between two places, without the spaces and tabs at its ends. `trim` would also remove a
 * no-break space, which is a letter of a field's value like any other: `5\xa0` is no length. Source: RFC 9110, 5.5 and
 * 5.6.3.
 */
export function trimBlanks(text: string, from: number, to: number): string {
  let start = from
  let end = to
  while (start < end && isBlank(text.charCodeAt(start))) start += 1
  while (end > start && isBlank(text.charCodeAt(end - 1))) end -= 1
  return text.slice(start, end)
}

const isBlank = (code: number) => code === 32 || code === 9
