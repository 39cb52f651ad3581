type Json = Record<string, unknown>

const isJson = (value: unknown): value is Json => typeof value === 'object' && value !== null

/** R11 to R13 for the tool calls of one choice. Problems are `<rule>: <what was seen>`. */
export class ToolCallRules {
  readonly #arguments = new Map<number, string>()
  /** Calls of custom tools, whose text is no JSON. */
  readonly #custom = new Set<number>()
  /** Unanswered calls, by their index, and their ids. */
  readonly #open = new Map<number, unknown>()

  /** Judges the `tool_calls` of one delta; absent ones are fine. */
  take(toolCalls: unknown): string[] {
    if (toolCalls === undefined || toolCalls === null) return []
    if (!Array.isArray(toolCalls)) return ['R11: tool_calls is no array']
    const several = toolCalls.length > 1 ? ['R11: several calls in one chunk'] : []
    return [...several, ...toolCalls.filter(isJson).flatMap((call) => this.#call(call))]
  }

  /** Judges a result that the stream itself tells: it is of a call that is whole, and answered once. */
  answered(result: unknown): string[] {
    if (!isJson(result)) return ['R11: tool_message is no object']
    const { role, tool_call_id: id, content } = result
    const [index] = [...this.#open].find(([, open]) => open === id) ?? []
    if (index === undefined) return [`R11: a result of no call: ${String(id)}`]
    this.#open.delete(index)
    const isMessage = role === 'tool' && typeof content === 'string'
    return isMessage ? [] : ['R11: tool_message is no tool message']
  }

  /** Judges the calls as a whole, at the end of their choice. */
  problems(finishReason: string | undefined): string[] {
    const functions = [...this.#arguments].filter(([index]) => !this.#custom.has(index))
    const broken = functions.filter(([, text]) => !isObjectText(text))
    const problems = broken.map(
      ([, text]) => `R12: arguments are no JSON object: ${text.slice(0, 60)}`,
    )
    const isCut = finishReason === 'length' || finishReason === 'content_filter'
    // An answer cut by its limit may end inside the arguments, and says so.
    if (isCut) return []
    const asksForTools = ['tool_calls', 'function_call'].includes(finishReason ?? '')
    if (this.#open.size > 0 && !asksForTools) {
      problems.push(`R13: tool calls, but finish_reason ${finishReason}`)
    }
    // A client that reads that runs the tools again.
    if (this.#arguments.size > 0 && this.#open.size === 0 && asksForTools) {
      problems.push(`R13: all tool calls are answered, but finish_reason ${finishReason}`)
    }
    return problems
  }

  #call({ index, id, type, function: called, custom }: Json): string[] {
    if (typeof index !== 'number') return ['R11: a tool call without index']
    const part = custom ?? called
    const { name, arguments: args, input }: Json = isJson(part) ? part : {}
    const fragment = custom === undefined ? args : input
    const sofar = this.#arguments.get(index)
    this.#arguments.set(index, (sofar ?? '') + (typeof fragment === 'string' ? fragment : ''))
    if (sofar !== undefined) {
      return [id, type, name].some((value) => value !== undefined)
        ? ['R11: id, type or name repeated']
        : []
    }
    this.#open.set(index, id)
    if (custom !== undefined) this.#custom.add(index)
    const kind = custom === undefined ? 'function' : 'custom'
    const isHead = typeof id === 'string' && type === kind && typeof name === 'string'
    const problems = isHead ? [] : ['R11: the first delta of a call lacks id, type or name']
    return fragment === '' ? problems : [...problems, 'R11: the first delta has no empty arguments']
  }
}

function isObjectText(text: string): boolean {
  try {
    return isJson(JSON.parse(text))
  } catch {
    return false
  }
}
