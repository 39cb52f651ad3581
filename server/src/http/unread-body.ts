import { smallBytes } from './body-budget'

const usual = {
  /** What is still taken of a body, and for how long. Twice the largest that is accepted anywhere. */
  bytes: 64 << 20,
  ms: 30_000,
  /** A sender who pauses for so long has read the answer. */
  pauseMs: 1000,
  /** For how long an answer waits for the end of a body whose length nobody told: nearly all are there. */
  soonMs: 50,
  /** How many are waited for at the same time; beyond it their connections are closed at once. */
  most: 256,
}

/**
 * Ends the connections of requests that are answered before their body was read. The runtime takes, and
 * drops, what such a caller goes on to send, for as long as he likes. A connection that is closed while
 * bytes arrive is reset, and the caller may lose the answer: so the answer goes out at once, its end when
 * the caller has stopped sending or has had his time, and then the connection is closed.
 */
export class UnreadBodies {
  readonly #limits: typeof usual
  #running = 0

  constructor(limits: Partial<typeof usual> = {}) {
    this.#limits = { ...usual, ...limits }
  }

  /** The answer as it is, unless much of its request may be still to come. */
  after(request: Request, response: Response): Response | Promise<Response> {
    // Who has had his time already is not given more.
    if (response.headers.get('connection') === 'close') return response
    const rest = restOf(request)
    if (!rest) return response
    if (request.headers.has('content-length')) return this.#ending(response, rest)
    return this.#unlessOver(response, rest)
  }

  async #unlessOver(response: Response, rest: Reader): Promise<Response> {
    const { soonMs } = this.#limits
    const isOver = await dropped(rest, { bytes: smallBytes, ms: soonMs, pauseMs: soonMs })
    return isOver ? response : this.#ending(response, rest)
  }

  #ending(response: Response, rest: Reader): Response {
    const headers = new Headers(response.headers)
    headers.set('connection', 'close')
    const { status, body } = response
    if (!body || this.#running >= this.#limits.most) return new Response(body, { status, headers })
    return new Response(this.#lingering(body.getReader(), rest), { status, headers })
  }

  #lingering(own: Reader, rest: Reader): ReadableStream<Uint8Array> {
    return new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          const { value } = await own.read()
          if (value) return controller.enqueue(value)
          // Ends by itself, also where the caller has gone.
          this.#running += 1
          await dropped(rest, this.#limits)
          this.#running -= 1
          controller.close()
        },
        cancel: () => own.cancel(),
      },
      { highWaterMark: 0 },
    )
  }
}

interface Most {
  bytes: number
  ms: number
  pauseMs: number
}

/** Reads on, for so much and so long at most. Whether the body came to its end. */
async function dropped(rest: Reader, { bytes, ms, pauseMs }: Most): Promise<boolean> {
  const endMs = performance.now() + ms
  for (let read = 0; read < bytes && performance.now() < endMs;) {
    const length = await nextLength(rest, pauseMs)
    if (length === 'over') return true
    if (length === 'none') return false
    read += length
  }
  return false
}

/** How much came; `none` after a pause, and of a caller who has gone. */
async function nextLength(rest: Reader, pauseMs: number): Promise<number | 'over' | 'none'> {
  const { promise: paused, resolve } = Promise.withResolvers<'none'>()
  const timer = setTimeout(() => resolve('none'), pauseMs)
  try {
    const reading = rest.read().then(({ value }) => value?.byteLength ?? 'over')
    return await Promise.race([reading.catch(() => 'none' as const), paused])
  } finally {
    clearTimeout(timer)
  }
}

type Reader = Pick<ReadableStreamDefaultReader<Uint8Array>, 'read' | 'cancel'>

/** What was not read of a body; undefined where all was, or what is left is little. */
function restOf(request: Request): Reader | undefined {
  const length = request.headers.get('content-length')
  if (length === null && !request.headers.has('transfer-encoding')) return undefined
  // Two equal lengths arrive as one text with a comma.
  const bytes = length === null ? undefined : Number.parseInt(length, 10)
  if (bytes !== undefined && (bytes <= smallBytes || request.bodyUsed)) return undefined
  const { body } = request
  // Somebody reads it still, whose time is bounded.
  if (!body || body.locked) return undefined
  const reader = body.getReader()
  if (Bun.peek.status(reader.closed) === 'pending') return reader
  reader.releaseLock()
  return undefined
}
