/** A value of a Python literal; a call keeps its name in `$`, its keywords as fields. */
export type Literal = null | boolean | number | string | Literal[] | { [name: string]: Literal }

const constants: Record<string, Literal> = { None: null, True: true, False: false }
const escapes: Record<string, string> = { n: '\n', t: '\t', r: '\r' }
const token = /\s*(?:#[^\n]*\n\s*)*([A-Za-z_][\w.]*|-?\d[\d_]*(?:\.\d+)?(?:e-?\d+)?|['"]|[^\s])/y

/**
 * Reads the literal behind `start` in Python source: lists, tuples, dictionaries, strings, numbers,
 * and calls such as `Decimal('0.5')`. Nothing is executed. Throws where there is anything else.
 */
export function readLiteral(source: string, start: string): Literal {
  const at = source.indexOf(start)
  if (at < 0) throw new Error(`The source has no "${start}".`)
  return new Reader(source, at + start.length).value()
}

class Reader {
  readonly #source: string
  #at: number

  constructor(source: string, at: number) {
    this.#source = source
    this.#at = at
  }

  value(): Literal {
    const next = this.#next()
    if (next === '[') return this.#list(']')
    if (next === '(') return this.#tuple()
    if (next === '{') return this.#dictionary()
    if (next === "'" || next === '"') return this.#string(next)
    if (/^-?\d/.test(next)) return Number(next.replaceAll('_', ''))
    if (!/^[A-Za-z_]/.test(next)) throw this.#unexpected(next)
    return this.#peek() === '(' ? this.#call(next) : (constants[next] ?? next)
  }

  #next(): string {
    token.lastIndex = this.#at
    const found = token.exec(this.#source)?.[1]
    if (found === undefined) throw this.#unexpected('the end')
    this.#at = token.lastIndex
    return found
  }

  #peek(): string {
    const before = this.#at
    const next = this.#next()
    this.#at = before
    return next
  }

  #takes(character: string): boolean {
    if (this.#peek() !== character) return false
    this.#next()
    return true
  }

  #list(end: string): Literal[] {
    const values: Literal[] = []
    while (!this.#takes(end)) {
      values.push(this.value())
      this.#takes(',')
    }
    return values
  }

  /** Parentheses around one value without a comma only group it. */
  #tuple(): Literal {
    const first = this.value()
    if (this.#takes(')')) return first
    this.#takes(',')
    return [first, ...this.#list(')')]
  }

  #dictionary(): Literal {
    const fields: Record<string, Literal> = {}
    while (!this.#takes('}')) {
      const name = this.#name(this.value())
      if (!this.#takes(':')) throw this.#unexpected(this.#peek())
      fields[name] = this.value()
      this.#takes(',')
    }
    return fields
  }

  #call(name: string): Literal {
    this.#next()
    const fields: Record<string, Literal> = { $: name }
    const plain: Literal[] = []
    while (!this.#takes(')')) {
      const argument = this.value()
      if (this.#takes('=')) fields[this.#name(argument)] = this.value()
      else plain.push(argument)
      this.#takes(',')
    }
    return { ...fields, args: plain }
  }

  /** Strings side by side are one. */
  #string(quote: string): string {
    let text = ''
    for (;;) {
      const char = this.#source[this.#at++]
      if (char === undefined) throw this.#unexpected('the end')
      if (char === quote) break
      if (char !== '\\') text += char
      else {
        const escaped = this.#source[this.#at++] ?? ''
        text += escapes[escaped] ?? escaped
      }
    }
    const next = this.#peek()
    return next === "'" || next === '"' ? text + this.#string(this.#next()) : text
  }

  #name(value: Literal): string {
    if (typeof value !== 'string') throw this.#unexpected(JSON.stringify(value))
    return value
  }

  #unexpected(what: string): Error {
    const line = this.#source.slice(0, this.#at).split('\n').length
    return new Error(`Line ${line}: cannot read "${what}".`)
  }
}
