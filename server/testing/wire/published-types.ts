import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

function balanced(text: string): string {
  let depth = 1
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '{') depth += 1
    if (text[at] === '}' && --depth === 0) return text.slice(0, at)
  }
  throw new Error('The braces do not close.')
}

/** Returns the text between the braces of a declaration that begins so. */
function bodyOf(text: string, beginning: string): string {
  const start = new RegExp(String.raw`^${beginning}\b[^{]*\{`, 'm').exec(text)
  if (!start) throw new Error(`The SDK has no "${beginning}".`)
  return balanced(text.slice(start.index + start[0].length))
}

/** The types that a published package declares in one of its files. */
export class PublishedTypes {
  readonly #types: string

  constructor(name: string, file: string) {
    const folder = dirname(Bun.resolveSync(name, import.meta.dir))
    this.#types = readFileSync(join(folder, file), 'utf8').replaceAll(/\/\*\*[^]*?\*\//g, '')
  }

  /** The names of the types that a union is of. */
  membersOf(union: string): string[] {
    const [, list = ''] = new RegExp(`export type ${union} = ([^;]+);`).exec(this.#types) ?? []
    if (list === '') throw new Error(`The SDK has no union "${union}".`)
    return list.split('|').map((name) => name.trim())
  }

  /** The fields of an interface, sorted. Its name may be that of its namespace and its own: `Tool.Mcp`. */
  fieldsOf(path: string): string[] {
    const found = [...this.#interfaceOf(path).matchAll(/^( +)(\w+)\??:/gm)]
    // Deeper ones are those of its fields.
    const least = Math.min(...found.map(([, indent = '']) => indent.length))
    const own = found.filter(([, indent = '']) => indent.length === least)
    return own.map(([, , name = '']) => name).toSorted()
  }

  /** The values of `type` in all members of a union, sorted. */
  typesOf(union: string): string[] {
    const all = this.membersOf(union).flatMap((member) => this.#typesIn(member))
    return [...new Set(all)].toSorted()
  }

  #typesIn(path: string): string[] {
    const [, literals = ''] = /^ {4,8}type\??: ([^;]+);/m.exec(this.#interfaceOf(path)) ?? []
    return [...literals.matchAll(/'([^']+)'/g)].map(([, literal = '']) => literal)
  }

  #interfaceOf(path: string): string {
    const [outer = '', inner] = path.split('.')
    if (inner === undefined) return bodyOf(this.#types, `export interface ${outer}`)
    const namespace = bodyOf(this.#types, `export declare namespace ${outer}`)
    return bodyOf(namespace, ` {4}interface ${inner}`)
  }
}
