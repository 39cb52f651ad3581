import { smallBytes } from './body-budget'
import { closeConnection } from './keep-alive'

const usual = {
  /** The limits on draining a body. Twice the largest body that any route accepts. */
  bytes: 64 << 20,
  ms: 30_000,
  /** A sender that pauses for this long has read the response. */
  pauseMs: 1000,
  /** A slower sender only holds the connection. Bytes per second, counted after the first second. */
  minBytesPerSecond: 64 << 10,
  /** The wait of a response for the end of a body of unknown length: nearly all have arrived. */
  soonMs: 50,
  /** The same for one of at most 1 MB and known length: its connection is reused once the body has arrived. */
  smallSoonMs: 1000,
  /** The further time for such a body; then its connection is closed. */
  smallMs: 2000,
  /** The most bodies drained at the same time; beyond it their connections are closed at once. */
  maxDraining: 256,
}
/** A body up to this size is collected, which costs less than reading it as a stream. */
const maxCollectedBytes = 64 << 10

/**
 * Ends the connections of requests that are answered before their body was read. The runtime accepts, and drops,
 * any further bytes of such a client, without an end. A connection closed while bytes arrive is reset, and the
 * client may lose the response: so the response is sent at once, its end once the client has stopped sending or
 * has exceeded its time, and then the connection is closed.
 */
export class UnreadBodies {
  readonly #limits: typeof usual
  #running = 0

  constructor(limits: Partial<typeof usual> = {}) {
    this.#limits = { ...usual, ...limits }
  }

  /** Returns the response unchanged, unless much of its request may still arrive. */
  after(request: Request, response: Response): Response | Promise<Response> {
    // A client that has exceeded its time gets no more.
    if (response.headers.get('connection') === 'close') return response
    const { headers } = request
    const length = headers.get('content-length')
    if (length === null && !headers.has('transfer-encoding')) return response
    // Two equal lengths arrive as one text with a comma.
    const bytes = length === null ? undefined : Number.parseInt(length, 10)
    if (bytes === 0) return response
    const { soonMs, smallSoonMs, smallMs } = this.#limits
    // A body that was read, or is being read, has limits of its own.
    if (bytes !== undefined && request.bodyUsed) return response
    if (bytes !== undefined && bytes <= smallBytes) {
      const drain = createSmallDrain(request, bytes)
      const ending = { ...this.#limits, ms: smallMs }
      return drain ? this.#drainOrClose(response, { drain, soonMs: smallSoonMs, ending }) : response
    }
    const drain = createDrain(request)
    if (!drain) return response
    const ending = this.#limits
    if (bytes !== undefined) return this.#ending(response, drain, ending)
    return this.#drainOrClose(response, { drain, soonMs, ending })
  }

  async #drainOrClose(response: Response, { drain, soonMs, ending }: Unread): Promise<Response> {
    const soon = { bytes: smallBytes, ms: soonMs, pauseMs: soonMs, minBytesPerSecond: 0 }
    return (await drain(soon)) ? response : this.#ending(response, drain, ending)
  }

  #ending(response: Response, drain: Drain, ending: DrainLimits): Response {
    const headers = new Headers(response.headers)
    closeConnection(headers)
    const { status, body } = response
    if (!body || this.#running >= this.#limits.maxDraining)
      return new Response(body, { status, headers })
    return new Response(
      this.#lingering(body.getReader(), () => drain(ending)),
      { status, headers },
    )
  }

  #lingering(own: Reader, drain: () => Promise<boolean>): ReadableStream<Uint8Array> {
    return new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          const { value } = await own.read()
          if (value) return controller.enqueue(value)
          // Ends by itself, also after the client has disconnected.
          this.#running += 1
          await drain()
          this.#running -= 1
          controller.close()
        },
        cancel: () => own.cancel(),
      },
      { highWaterMark: 0 },
    )
  }
}

interface DrainLimits {
  bytes: number
  ms: number
  pauseMs: number
  minBytesPerSecond: number
}

/** Drains the rest of a body, within limits of bytes and time. Resolves to whether it ended. */
type Drain = (limits: DrainLimits) => Promise<boolean>

interface Unread {
  drain: Drain
  soonMs: number
  ending: DrainLimits
}

/** Reads on within these limits. Resolves to whether the body ended. */
async function drainReader(reader: Reader, limits: DrainLimits): Promise<boolean> {
  const { bytes, ms, pauseMs, minBytesPerSecond } = limits
  const startMs = performance.now()
  let remainingMs = ms
  for (let read = 0; read < bytes && remainingMs > 0;) {
    const length = await readLength(reader, Math.min(pauseMs, remainingMs))
    if (length === 'over') return true
    if (length === 'none') return false
    read += length
    const elapsedMs = performance.now() - startMs
    if (elapsedMs > 1000 && read < (minBytesPerSecond * elapsedMs) / 1000) return false
    remainingMs = ms - elapsedMs
  }
  return false
}

/** Waits for the end of a body that the runtime collects. */
async function awaitCollected(collecting: Promise<unknown>, { ms }: DrainLimits): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<false>()
  const timer = setTimeout(() => resolve(false), ms)
  try {
    return await Promise.race([collecting.then(() => true), late])
  } finally {
    clearTimeout(timer)
  }
}

/** Resolves to the bytes of the next chunk; `none` after a pause, and after a disconnect. */
async function readLength(reader: Reader, pauseMs: number): Promise<number | 'over' | 'none'> {
  const { promise: paused, resolve } = Promise.withResolvers<'none'>()
  const timer = setTimeout(() => resolve('none'), pauseMs)
  try {
    const reading = reader.read().then(({ value }) => value?.byteLength ?? 'over')
    return await Promise.race([reading.catch(() => 'none' as const), paused])
  } finally {
    clearTimeout(timer)
  }
}

type Reader = Pick<ReadableStreamDefaultReader<Uint8Array>, 'read' | 'cancel'>

/** Drains a body of at most 1 MB that no handler has read. */
function createSmallDrain(request: Request, bytes: number): Drain | undefined {
  if (bytes > maxCollectedBytes) return createDrain(request)
  // A body that broke off has lost its client.
  const collecting = request.blob().catch(() => undefined)
  return (limits) => awaitCollected(collecting, limits)
}

/** Returns the unread rest of a body; undefined where all was read. */
function createDrain({ body }: Request): Drain | undefined {
  // A reader that is still active has a timeout of its own.
  if (!body || body.locked) return undefined
  const reader = body.getReader()
  if (Bun.peek.status(reader.closed) === 'pending') return (limits) => drainReader(reader, limits)
  reader.releaseLock()
  return undefined
}
