import { smallBytes } from './body-budget'

const usual = {
  /** What is still taken of a body, and for how long. Twice the largest that is accepted anywhere. */
  bytes: 64 << 20,
  ms: 30_000,
  /** A sender who pauses for so long has read the answer. */
  pauseMs: 1000,
  /** A sender slower than this sends to hold the connection. Bytes a second; counted from the first second on. */
  minBytesPerSecond: 64 << 10,
  /** For how long an answer waits for the end of a body whose length is not told: nearly all are there. */
  soonMs: 50,
  /** The same for one of at most 1 MB whose length is told: its connection serves on once all of it has come. */
  smallSoonMs: 1000,
  /** How much longer such a body is taken; then its connection is closed. */
  smallMs: 2000,
  /** How many are waited for at the same time; beyond it their connections are closed at once. */
  most: 256,
}
/** A body up to so many bytes is collected, which costs less than reading it. */
const maxCollectedBytes = 64 << 10

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
    const { headers } = request
    const length = headers.get('content-length')
    if (length === null && !headers.has('transfer-encoding')) return response
    // Two equal lengths arrive as one text with a comma.
    const bytes = length === null ? undefined : Number.parseInt(length, 10)
    if (bytes === 0) return response
    const { soonMs, smallSoonMs, smallMs } = this.#limits
    // What is read, or being read, has bounds of its own.
    if (bytes !== undefined && request.bodyUsed) return response
    if (bytes !== undefined && bytes <= smallBytes) {
      const rest = smallRestOf(request, bytes)
      const ending = { ...this.#limits, ms: smallMs }
      return rest ? this.#unlessOver(response, { rest, soonMs: smallSoonMs, ending }) : response
    }
    const rest = restOf(request)
    if (!rest) return response
    const ending = this.#limits
    if (bytes !== undefined) return this.#ending(response, rest, ending)
    return this.#unlessOver(response, { rest, soonMs, ending })
  }

  async #unlessOver(response: Response, { rest, soonMs, ending }: Unread): Promise<Response> {
    const soon = { bytes: smallBytes, ms: soonMs, pauseMs: soonMs, minBytesPerSecond: 0 }
    return (await rest(soon)) ? response : this.#ending(response, rest, ending)
  }

  #ending(response: Response, rest: Rest, ending: Most): Response {
    const headers = new Headers(response.headers)
    headers.set('connection', 'close')
    const { status, body } = response
    if (!body || this.#running >= this.#limits.most) return new Response(body, { status, headers })
    return new Response(
      this.#lingering(body.getReader(), () => rest(ending)),
      { status, headers },
    )
  }

  #lingering(own: Reader, dropRest: () => Promise<boolean>): ReadableStream<Uint8Array> {
    return new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          const { value } = await own.read()
          if (value) return controller.enqueue(value)
          // Ends by itself, also where the caller has gone.
          this.#running += 1
          await dropRest()
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
  minBytesPerSecond: number
}

/** Drops the rest of a body, so much and for so long at most. Resolves to whether it came to its end. */
type Rest = (most: Most) => Promise<boolean>

interface Unread {
  rest: Rest
  soonMs: number
  ending: Most
}

/** Reads on within these limits. Resolves to whether the body came to its end. */
async function dropped(rest: Reader, most: Most): Promise<boolean> {
  const { bytes, ms, pauseMs, minBytesPerSecond } = most
  const startMs = performance.now()
  let leftMs = ms
  for (let read = 0; read < bytes && leftMs > 0;) {
    const length = await nextLength(rest, Math.min(pauseMs, leftMs))
    if (length === 'over') return true
    if (length === 'none') return false
    read += length
    const passedMs = performance.now() - startMs
    if (passedMs > 1000 && read < (minBytesPerSecond * passedMs) / 1000) return false
    leftMs = ms - passedMs
  }
  return false
}

/** Waits for the end of a body that the runtime collects. */
async function collected(whole: Promise<unknown>, { ms }: Most): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<false>()
  const timer = setTimeout(() => resolve(false), ms)
  try {
    return await Promise.race([whole.then(() => true), late])
  } finally {
    clearTimeout(timer)
  }
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

/** A body of at most 1 MB that nothing has read. */
function smallRestOf(request: Request, bytes: number): Rest | undefined {
  if (bytes > maxCollectedBytes) return restOf(request)
  // The caller of one that broke off is gone.
  const whole = request.blob().catch(() => undefined)
  return (most) => collected(whole, most)
}

/** What was not read of a body; undefined where all was. */
function restOf({ body }: Request): Rest | undefined {
  // Whatever reads it still is bounded in time.
  if (!body || body.locked) return undefined
  const reader = body.getReader()
  if (Bun.peek.status(reader.closed) === 'pending') return (most) => dropped(reader, most)
  reader.releaseLock()
  return undefined
}
