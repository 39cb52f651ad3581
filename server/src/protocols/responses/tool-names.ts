import { createHash } from 'node:crypto'

/** The pattern that every provider accepts as the name of a function. */
const accepted = /^[a-zA-Z0-9_-]{1,64}$/
const maxLength = 64
const hashLength = 8

/** A tool by its caller's name for it. */
export interface ToolName {
  name: string
  namespace?: string | undefined
}

const keyOf = ({ name, namespace }: ToolName) => `${namespace ?? ''}\0${name}`

/**
 * The names of functions that stand for a caller's tools. One of a namespace is called
 * `<namespace>__<name>`; a name that is too long, has signs that providers refuse, or is taken, ends in a
 * hash of the whole name instead: the same in each request, as a prompt cache needs it.
 */
export class FunctionNames {
  readonly #byTool = new Map<string, string>()
  readonly #usedNames = new Set<string>()

  nameOf(tool: ToolName): string {
    const key = keyOf(tool)
    const existingName = this.#byTool.get(key)
    if (existingName !== undefined) return existingName
    const plain = tool.namespace ? `${tool.namespace}__${tool.name}` : tool.name
    const isFree = accepted.test(plain) && !this.#usedNames.has(plain)
    const name = isFree ? plain : hashName(plain, key)
    this.#byTool.set(key, name)
    this.#usedNames.add(name)
    return name
  }
}

function hashName(plain: string, key: string): string {
  const hash = createHash('sha256').update(key).digest('hex').slice(0, hashLength)
  const readable = plain.replaceAll(/[^a-zA-Z0-9_-]/g, '_')
  return `${readable.slice(0, maxLength - hashLength - 1)}_${hash}`
}
