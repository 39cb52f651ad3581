import { ChunkRules, type StreamRequest } from './chunks'

/**
 * Reads a stream as a client would and notes every broken rule of the wire: R4–R13 and I18. Bytes
 * go in as they come; what is noted is `<rule>: <what was seen>`.
 */
export class StreamRules {
  readonly violations: string[] = []
  readonly #decoder = new TextDecoder()
  readonly #chunks: ChunkRules
  #rest = ''
  #data: string[] = []
  #ended: 'done' | 'error' | undefined

  constructor(request: StreamRequest) {
    this.#chunks = new ChunkRules(request, (violation) => this.violations.push(violation))
  }

  push(bytes: Uint8Array): void {
    this.#read(this.#decoder.decode(bytes, { stream: true }))
  }

  /** The body ended; `cut` is why it did so without saying so. */
  end(cut?: Error): void {
    this.#read(this.#decoder.decode())
    if (this.#rest !== '' || this.#data.length > 0) this.#note('R6', 'ended inside an event')
    if (cut) this.#note('I18', `the connection was cut: ${cut.message}`)
    else if (!this.#ended) this.#note('I18', 'ended with neither [DONE] nor an error frame')
  }

  #note(rule: string, what: string): void {
    this.violations.push(`${rule}: ${what}`)
  }

  #read(text: string): void {
    const lines = (this.#rest + text).split('\n')
    this.#rest = lines.pop() ?? ''
    for (const line of lines) this.#line(line.replace(/\r$/, ''))
  }

  #line(line: string): void {
    if (line === '') {
      if (this.#data.length > 0) this.#event(this.#data.join('\n'))
      this.#data = []
    } else if (line.startsWith(':')) {
      if (this.#data.length > 0) this.#note('R6', 'a comment inside an event')
    } else if (line.startsWith('data:')) {
      const data = line.replace(/^data: ?/, '')
      if (data.trim() === '') this.#note('R4', 'an empty data line')
      else this.#data.push(data)
    } else {
      this.#note('R4', `a line that is neither data nor comment: ${line.slice(0, 60)}`)
    }
  }

  #event(data: string): void {
    if (this.#ended) {
      this.#note('I18', `data after the ${this.#ended === 'done' ? '[DONE]' : 'error frame'}`)
    } else if (data === '[DONE]') {
      this.#ended = 'done'
      this.#chunks.done()
    } else if (this.#chunks.take(data) === 'error') {
      this.#ended = 'error'
    }
  }
}
