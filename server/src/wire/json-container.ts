const none: unknown[] = []
const emptyContainer: Record<string, unknown> = {}
const blank = /^[ \t\n\r]*$/

/** Returns whether a text has only characters that may stand between members. */
const isBlank = (text: string) => blank.test(text)

/** An object or a list that is read and has not come to its end. Its members up to `from` are in it. */
export class OpenContainer {
  /** The position of its bracket. */
  start = 0
  isList = false
  /** The position at which the part not yet added to it begins. */
  from = 0
  /** The last comma between its members; before `from` where there was none since. */
  comma = -1
  names = 0
  /** Its value is put together here; otherwise the engine parses it with its container. */
  isBuilt = false
  /** True where the comma behind a member that was added by itself, or the end, comes next. */
  isAfterChild = false
  readonly #text: string
  #list: unknown[] = none
  #object: Record<string, unknown> = emptyContainer
  /** A comma came before the next member. */
  #isAfterComma = false
  /** The name of the member that is put together by itself. */
  #name = ''

  constructor(text: string) {
    this.#text = text
  }

  /** One of them serves all objects and lists at its depth, one after the other, as there may be very many. */
  begin(start: number, isList: boolean): void {
    this.start = start
    this.isList = isList
    this.from = start + 1
    this.comma = -1
    this.names = 0
    this.isBuilt = false
    this.isAfterChild = false
    this.#isAfterComma = false
  }

  /** Starts to put its value together here. */
  build(): void {
    if (this.isBuilt) return
    this.isBuilt = true
    if (this.isList) this.#list = []
    else this.#object = {}
  }

  /** Takes in all members before the last comma, which is before `at`. Throws `SyntaxError`. */
  flush(at: number): void {
    if (this.comma < this.from || this.comma >= at) return
    this.#append(this.#blankless(this.from, this.comma))
    this.from = this.comma + 1
    this.#isAfterComma = true
  }

  /** Returns whether the text at `at` can only be the name of a member. */
  isName(at: number): boolean {
    return !this.isList && !this.isAfterChild && isBlank(this.#text.slice(this.from, at))
  }

  /** A member begins at `at` that is put together by itself. Throws `SyntaxError`. */
  expect(at: number): void {
    if (this.isAfterChild) throw new SyntaxError('JSON Parse error: no comma between members')
    const before = this.#text.slice(this.from, at)
    if (this.isList) {
      if (!isBlank(before)) throw new SyntaxError('JSON Parse error: no comma between values')
      return
    }
    // Parsed as the name of a member, for its escapes.
    const [name, ...others] = Object.keys(JSON.parse(`{${before}null}`))
    if (name === undefined || others.length > 0) throw new SyntaxError('JSON Parse error: no name')
    this.#name = name
  }

  /** Adds the member that was expected, which ends before `end`. */
  add(value: unknown, end: number): void {
    if (this.isList) this.#list.push(value)
    else this.#set(this.#name, value)
    this.from = end
    this.isAfterChild = true
  }

  /** The comma behind it has come. Throws `SyntaxError` where something is between them. */
  endChild(): void {
    if (!isBlank(this.#text.slice(this.from, this.comma))) {
      throw new SyntaxError('JSON Parse error: no comma behind a member')
    }
    this.from = this.comma + 1
    this.isAfterChild = false
    this.#isAfterComma = true
  }

  /** Its value, which ends at `end`. Throws `SyntaxError`. */
  close(end: number): unknown {
    const rest = this.#text.slice(this.from, end)
    const isEmpty = isBlank(rest)
    if (this.isAfterChild ? !isEmpty : isEmpty && this.#isAfterComma) {
      throw new SyntaxError('JSON Parse error: no member before the end')
    }
    if (!isEmpty) this.#append(rest)
    return this.isList ? this.#list : this.#object
  }

  /** The name of the member that is read. */
  nameAt(): string | undefined {
    if (this.isAfterChild) return this.#name
    const start = Math.max(this.from, this.comma + 1)
    return /^\s*"([\w.-]{1,64})"\s*:/.exec(this.#text.slice(start, start + 100))?.[1]
  }

  #blankless(from: number, to: number): string {
    const run = this.#text.slice(from, to)
    if (isBlank(run)) throw new SyntaxError('JSON Parse error: nothing between two commas')
    return run
  }

  #append(run: string): void {
    if (this.isList) {
      const items: unknown[] = JSON.parse(`[${run}]`)
      for (const item of items) this.#list.push(item)
      return
    }
    const members: Record<string, unknown> = JSON.parse(`{${run}}`)
    for (const name of Object.keys(members)) this.#set(name, members[name])
  }

  /** A name that means something else to the language is a name like any other here. */
  #set(name: string, value: unknown): void {
    if (name !== '__proto__') this.#object[name] = value
    else {
      const property = { value, enumerable: true, configurable: true, writable: true }
      Object.defineProperty(this.#object, name, property)
    }
  }
}
