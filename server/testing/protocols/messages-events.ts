type Json = Record<string, unknown>

const isJson = (value: unknown): value is Json => typeof value === 'object' && value !== null

/** A stream of messages as its reader puts it together. */
export interface ReadMessage {
  content: Json[]
  stopReason: unknown
  usage: Json
  pings: number
  /** The error that it ended in. */
  error: Json | undefined
  /** Faults in the order of its events, or in their form. */
  problems: string[]
}

/** The events of a stream's text: each has a name and data of the same type. */
export function parseEvents(text: string): { events: Json[]; problems: string[] } {
  const problems: string[] = []
  const events = text
    .split('\n\n')
    .filter((frame) => frame !== '')
    .map((frame): Json => {
      const [, name, data = '{}'] = /^event: (\w+)\ndata: (.*)$/.exec(frame) ?? []
      const event: unknown = JSON.parse(data)
      if (!isJson(event) || name === undefined) problems.push(`no event: ${frame}`)
      const read = isJson(event) ? event : {}
      if (read['type'] !== name) problems.push(`the event ${name} holds ${String(read['type'])}`)
      return read
    })
  return { events, problems }
}

/**
 * Reads a stream as strictly as a client may: one start, blocks one after the other with rising
 * indexes, each stopped, one delta with the reason, one stop, nothing after it.
 */
export function readMessage(text: string): ReadMessage {
  const { events, problems } = parseEvents(text)
  const reader = new MessageReader(problems)
  for (const event of events) reader.next(event)
  return reader.end()
}

type Stage = 'nothing' | 'started' | 'in a block' | 'told why' | 'over'

class MessageReader {
  readonly #problems: string[]
  #stage: Stage = 'nothing'
  readonly #content: Json[] = []
  #json = ''
  #stopReason: unknown
  #usage: Json = {}
  #pings = 0
  #error: Json | undefined

  constructor(problems: string[]) {
    this.#problems = problems
  }

  end(): ReadMessage {
    if (this.#stage !== 'over') this.#problems.push(`ended while ${this.#stage}`)
    return {
      content: this.#content,
      stopReason: this.#stopReason,
      usage: this.#usage,
      pings: this.#pings,
      error: this.#error,
      problems: this.#problems,
    }
  }

  next(event: Json): void {
    switch (event['type']) {
      case 'ping':
        this.#pings += 1
        return
      case 'error':
        this.#error = isJson(event['error']) ? event['error'] : {}
        this.#stage = 'over'
        return
      case 'message_start':
        return this.#go('nothing', 'started', event)
      case 'content_block_start':
        this.#go('started', 'in a block', event)
        return this.#open(event)
      case 'content_block_delta':
        this.#go('in a block', 'in a block', event)
        return this.#grow(event)
      case 'content_block_stop':
        this.#go('in a block', 'started', event)
        return this.#close(event)
      case 'message_delta':
        this.#go('started', 'told why', event)
        this.#stopReason = isJson(event['delta']) ? event['delta']['stop_reason'] : undefined
        this.#usage = isJson(event['usage']) ? event['usage'] : {}
        return
      case 'message_stop':
        return this.#go('told why', 'over', event)
      default:
        this.#problems.push(`an event ${String(event['type'])}`)
    }
  }

  #go(from: Stage, to: Stage, { type }: Json): void {
    if (this.#stage !== from) this.#problems.push(`${String(type)} while ${this.#stage}`)
    this.#stage = to
  }

  #open({ index, content_block: block }: Json): void {
    if (index !== this.#content.length) this.#problems.push(`block ${String(index)} out of turn`)
    this.#content.push(isJson(block) ? { ...block } : {})
    this.#json = ''
  }

  #grow({ index, delta }: Json): void {
    const block = this.#content.at(-1)
    if (!block || index !== this.#content.length - 1) {
      this.#problems.push(`a delta for block ${String(index)}`)
      return
    }
    const { type, ...rest } = isJson(delta) ? delta : {}
    if (type === 'input_json_delta' && block['type'] === 'tool_use') {
      this.#json += String(rest['partial_json'])
      return
    }
    if (type === 'citations_delta' && block['type'] === 'text') {
      const before: unknown[] = Array.isArray(block['citations']) ? block['citations'] : []
      block['citations'] = [...before, rest['citation']]
      return
    }
    const field = String(type).replace(/_delta$/, '')
    const [name, piece] = Object.entries(rest)[0] ?? []
    if (field !== name || typeof block[field] !== 'string') {
      this.#problems.push(`a ${String(type)} in a block ${String(block['type'])}`)
      return
    }
    block[field] += String(piece)
  }

  #close({ index }: Json): void {
    const block = this.#content.at(-1)
    if (index !== this.#content.length - 1) this.#problems.push(`${String(index)} stopped`)
    if (block && this.#json !== '') block['input'] = read(this.#json)
  }
}

/** Parses as much of the arguments as there is: an answer that was cut has half an object. */
function read(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return json
  }
}
