import type { Json } from './http'

/** A frame, as it came or as it goes. */
export type Frame = Json & { type: string; id: string }

export interface AgentOptions {
  /** Of the first hello; nothing is said by itself where it is null. */
  hello?: Json | null
  protocols?: string[]
  /** Whether pings are answered. */
  beats?: boolean
}

/** What a plain answer of an OpenAI-alike looks like. */
export const completion = (content = 'Hello.', more: Json = {}) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 },
  ...more,
})

/** An event of a stream, as its text. */
export const event = (delta: Json, more: Json = {}) =>
  `data: ${JSON.stringify({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [{ index: 0, delta, finish_reason: null, ...more }],
  })}\n\n`

const usageEvent = (usage: Json) =>
  `data: ${JSON.stringify({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [],
    usage,
  })}\n\n`

/** The events of a whole stream, one a text. */
export const streamOf = (...texts: string[]) => [
  ...texts.map((content) => event({ content })),
  event({}, { finish_reason: 'stop' }),
  usageEvent({ prompt_tokens: 5, completion_tokens: texts.length, total_tokens: 5 + texts.length }),
  'data: [DONE]\n\n',
]

/** One model, `fake/mine`, that no catalogue has. */
export const defaultHello = {
  version: '1.0.0',
  providers: ['fake'],
  models: [
    { provider: 'fake', name: 'mine' },
    { provider: 'fake', name: 'one' },
  ],
  tools: [],
}

/** The close code of a server whose database did not answer in time. */
const tryAgain = 1013
const [maxTries, retryPauseMs] = [5, 200]

/** Whether a socket was opened, once that is known. */
const openingOf = (socket: WebSocket) =>
  new Promise<boolean>((resolve) => {
    socket.addEventListener('open', () => resolve(true))
    socket.addEventListener('close', () => resolve(false))
  })

const endOf = (socket: WebSocket) =>
  new Promise<{ code: number; reason: string }>((resolve) => {
    socket.addEventListener('close', ({ code, reason }) => resolve({ code, reason }))
  })

/** A gateway of the tests' own: a plain WebSocket, and what it says to each request. */
export class Agent implements Disposable {
  /** All that came, oldest first. */
  readonly frames: Frame[] = []
  closed: Promise<{ code: number; reason: string }>
  opened: Promise<boolean>
  /** Answers every request until it is set anew. */
  answer: (request: Frame) => void = (request) => this.whole(request)
  /** Runs every tool until it is set anew. */
  runs: (call: Frame) => void = () => undefined
  readonly #connect: () => WebSocket
  #socket: WebSocket
  readonly #welcome = Promise.withResolvers<Frame>()
  #failure = ''
  #ids = 0

  constructor(url: string, token: string | undefined, options: AgentOptions = {}) {
    const { hello = defaultHello, protocols = ['tollgate.gateway.1'], beats = true } = options
    const headers: Record<string, string> =
      token === undefined ? {} : { authorization: `Bearer ${token}` }
    this.#connect = () => {
      this.#failure = ''
      const socket = new WebSocket(url, { headers, protocols })
      socket.addEventListener('open', () => {
        if (hello !== null) this.hello(hello)
      })
      socket.addEventListener('error', (event) => {
        this.#failure = 'message' in event ? event.message : ''
      })
      socket.addEventListener('message', ({ data }) => this.#received(String(data), beats))
      return socket
    }
    this.#socket = this.#connect()
    this.opened = openingOf(this.#socket)
    this.closed = endOf(this.#socket)
  }

  /** The answer to the first hello. */
  get welcome(): Promise<Frame> {
    return this.#welcome.promise
  }

  /**
   * Resolves once it has said what it serves, and that was taken. Connects anew, as a gateway does, where the server asks for
   * that because its database did not answer in time.
   */
  async ready(): Promise<this> {
    for (let tries = 1; tries < maxTries; tries++) {
      const end = await Promise.race([this.welcome.then(() => undefined), this.closed])
      if (!end) return this
      if (end.code !== tryAgain && !this.#failure.includes('503')) break
      await Bun.sleep(retryPauseMs)
      this.#socket = this.#connect()
      this.opened = openingOf(this.#socket)
      this.closed = endOf(this.#socket)
    }
    await this.welcome
    return this
  }

  hello(fields: Json): void {
    this.send({ type: 'hello', id: `hello-${++this.#ids}`, ...fields })
  }

  send(frame: Json | string | Uint8Array<ArrayBuffer>): void {
    const isRaw = typeof frame === 'string' || frame instanceof Uint8Array
    this.#socket.send(isRaw ? frame : JSON.stringify(frame))
  }

  /** A whole answer in one frame. */
  whole({ id }: Frame, body: Json = completion(), status = 200): void {
    this.send({ type: 'response', id, status, body: JSON.stringify(body) })
  }

  /** A stream, an event a chunk. */
  stream({ id }: Frame, texts: readonly string[] = streamOf('Hello', '.')): void {
    for (const data of texts) this.send({ type: 'chunk', id, data })
    this.send({ type: 'response', id, status: 200 })
  }

  fail({ id }: Frame, code: string, sent?: boolean): void {
    this.send({
      type: 'error',
      id,
      code,
      message: 'It did not work.',
      ...(sent !== undefined && { sent }),
    })
  }

  /** Frames of a kind that came so far. */
  seen(type: string): Frame[] {
    return this.frames.filter((frame) => frame.type === type)
  }

  /** Drops the connection without a close frame. */
  kill(): void {
    this.#socket.terminate()
  }

  [Symbol.dispose](): void {
    this.#socket.close()
  }

  #received(text: string, beats: boolean): void {
    // What the tests' own server says is what it should be.
    const frame: Frame = JSON.parse(text)
    this.frames.push(frame)
    if (frame.type === 'welcome') this.#welcome.resolve(frame)
    if (frame.type === 'ping' && beats) this.send({ type: 'heartbeat', id: frame.id })
    if (frame.type === 'request') this.answer(frame)
    if (frame.type === 'tool_call') this.runs(frame)
  }
}
