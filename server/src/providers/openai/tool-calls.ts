import { isObject, type JsonObject } from '../../wire/json-body'

/** The ids and names of calls. */
interface CallNaming {
  newCallId: () => string
  /** Name of a tool at the provider -> name that the caller gave it, where they differ. */
  callerNames?: ReadonlyMap<string, string> | undefined
}

interface Call {
  hasArguments: boolean
  /** Its arguments are a free text. */
  isCustom: boolean
}

/**
 * The tool calls of one choice of a stream, as every client reads them: the first delta of a call
 * names it and has empty arguments, the following ones are pieces of arguments, one call a chunk,
 * indexes counted up from 0. Source: contract 12.5.
 */
export class ToolCallDeltas {
  readonly #naming: CallNaming
  readonly #calls: Call[] = []
  /** Their index, or their id where they give no index -> the index sent to the client. */
  readonly #indexes = new Map<number | string, number>()

  constructor(naming: CallNaming) {
    this.#naming = naming
  }

  get any(): boolean {
    return this.#calls.length > 0
  }

  /** The deltas that one entry of `delta.tool_calls` becomes. */
  next(entry: JsonObject): JsonObject[] {
    const custom = isObject(entry['custom']) ? entry['custom'] : undefined
    const { name, args } = custom ? readCustom(custom) : readFunction(entry)
    const key = this.#keyOf(entry, name)
    const existing = key === undefined ? this.#calls.length - 1 : this.#indexes.get(key)
    if (existing !== undefined && existing >= 0) return this.#addArguments(existing, args)

    const index = this.#calls.length
    this.#calls.push({ hasArguments: false, isCustom: custom !== undefined })
    if (key !== undefined) this.#indexes.set(key, index)
    const { function: theirs, custom: _custom, index: _index, id, type: _type, ...rest } = entry
    const { arguments: _arguments, ...ownFunction } = isObject(theirs) ? theirs : {}
    const callerName = this.#naming.callerNames?.get(name) ?? name
    const called = custom
      ? { type: 'custom', custom: { ...custom, name: callerName, input: '' } }
      : { type: 'function', function: { ...ownFunction, name: callerName, arguments: '' } }
    const ownId = typeof id === 'string' && id !== '' ? id : this.#naming.newCallId()
    return [{ index, id: ownId, ...called, ...rest }, ...this.#addArguments(index, args)]
  }

  /** A call that ends without arguments had none: `{}`, as clients parse the text. */
  close(): JsonObject[] {
    return this.#calls.flatMap((call, index) => {
      if (call.hasArguments || call.isCustom) return []
      call.hasArguments = true
      return [{ index, function: { arguments: '{}' } }]
    })
  }

  /** Without index and id, a name begins a call and anything else continues the last. */
  #keyOf(entry: JsonObject, name: string): number | string | undefined {
    if (Number.isInteger(entry['index'])) return Number(entry['index'])
    if (typeof entry['id'] === 'string' && entry['id'] !== '') return entry['id']
    return name === '' ? undefined : `unnamed ${this.#calls.length}`
  }

  #addArguments(index: number, args: string): JsonObject[] {
    const call = this.#calls[index]
    if (!call || args === '') return []
    if (call.isCustom) return [{ index, custom: { input: args } }]
    if (!call.hasArguments && isEmpty(args)) return []
    call.hasArguments = true
    return [{ index, function: { arguments: args } }]
  }
}

/** Some providers send arguments as an object. */
const toText = (value: unknown) => {
  if (typeof value === 'string') return value
  return isObject(value) ? JSON.stringify(value) : ''
}

/** The arguments of a whole call: always JSON, also where the provider sends `null` or nothing. */
export function toCompleteArguments(value: unknown): string {
  const text = toText(value).trim()
  return isEmpty(text) ? '{}' : text
}

/** Values that some providers send in place of no arguments. */
const isEmpty = (args: string) => args.trim() === '' || args === 'null'

const readCustom = ({ name, input }: JsonObject) => ({
  name: typeof name === 'string' ? name : '',
  args: typeof input === 'string' ? input : '',
})

function readFunction(entry: JsonObject) {
  const called = isObject(entry['function']) ? entry['function'] : {}
  return {
    name: typeof called['name'] === 'string' ? called['name'] : '',
    args: toText(called['arguments']),
  }
}
