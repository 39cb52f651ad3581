/** The fields of a head, looked for when they are asked for: of two dozen that are sent, few are. */
export class HeadFields {
  readonly #text: string
  /** The same length: a head has no letters beyond Latin. */
  readonly #lower: string

  /** `text`: lines that end with CRLF but for the last; the first is of no field. */
  constructor(text: string) {
    this.#text = text
    this.#lower = text.toLowerCase()
  }

  has(name: string): boolean {
    return this.#lower.includes(`\r\n${name}:`)
  }

  /** By a name in lower case; what was sent several times is joined by `, `. */
  get(name: string): string | undefined {
    const sought = `\r\n${name}:`
    let found: string | undefined
    for (let at = this.#lower.indexOf(sought); at >= 0;) {
      const from = at + sought.length
      const end = this.#text.indexOf('\r\n', from)
      const value = this.#text.slice(from, end < 0 ? undefined : end).trim()
      found = found === undefined ? value : `${found}, ${value}`
      at = end < 0 ? -1 : this.#lower.indexOf(sought, end)
    }
    return found
  }
}
