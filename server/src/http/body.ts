import { smallBytes } from './body-budget'
import type { BodyShare } from './body-share'
import type { Server } from './env'
import { ApiError, invalidRequest } from '../errors'
import { maxAtOnce, parseObject, readObject, type JsonObject } from '../wire/json-body'
import { withTimeout } from '../platform/with-timeout'

/** The runtime cuts a body that arrives slower than about 16 KB/s after this time. */
const slowBodySeconds = 20
const utf8 = new TextDecoder()
/** The initial charge for a body of unknown length. */
const middleBytes = 4 << 20
const json = /^application\/json\s*(;\s*charset\s*=\s*"?utf-8"?\s*)?$/i

const tooLarge = (limitBytes: number) =>
  invalidRequest(
    null,
    'body_too_large',
    `The body is larger than ${limitBytes / 1024} KB, the most that is accepted here.`,
  )

/** The most time for a whole body; the minimum pace alone sets no end. */
const bodyMs = 120_000

/** Accounts for the memory of large bodies. */
export interface Room {
  /** Opens the share of this request; bodies below `smallBytes` never call it. */
  share: () => BodyShare
}

interface Reading {
  limitBytes: number
  server: Pick<Server, 'timeout'>
  /** Undefined where bodies are not counted. The owner of the room releases the share. */
  room?: Room | undefined
  mostMs?: number
  onText?: ((text: string) => void) | undefined
}

/**
 * Reads the JSON object of a request's body and its length in bytes; `onText` receives its text. Rejects with
 * `invalid_request`: wrong content type, compressed, too large, not JSON; and with `gateway_unavailable` where
 * there is no room for a large one. Reading stops at the limit.
 */
export async function readJson(
  request: Request,
  reading: Reading,
): Promise<{ body: JsonObject; bytes: number }> {
  const { limitBytes, server, onText } = reading
  const { headers } = request
  const type = headers.get('content-type') ?? ''
  if (type !== 'application/json' && !json.test(type)) {
    throw invalidRequest(null, 'wrong_content_type', 'Send the body as application/json in UTF-8.')
  }
  const encoding = headers.get('content-encoding')
  if (encoding && encoding !== 'identity') {
    throw invalidRequest(null, 'wrong_content_type', 'A compressed body is not accepted.')
  }
  // Two equal lengths arrive as one text with a comma, which is not a number.
  const length = headers.get('content-length') ?? ''
  const bytes = /^\d+$/.test(length) ? Number(length) : undefined
  if (bytes !== undefined && bytes > limitBytes) throw tooLarge(limitBytes)
  server.timeout(request, slowBodySeconds)
  let text: string
  let size = bytes
  if (size === undefined || size > smallBytes) {
    const read = await readPieces(request, reading, size)
    text = utf8.decode(read)
    size = read.byteLength
  } else text = await request.text().catch(() => Promise.reject(broken()))
  // The answer has timeouts of its own.
  server.timeout(request, 0)
  onText?.(text)
  const isSmall = text.length <= maxAtOnce
  return { body: isSmall ? parseObject(text) : await readLarge(text, reading, size), bytes: size }
}

/** The cost of reading a body and of using it once parsed, in milliseconds per byte. */
const readByteMs = 2e-6
const usedByteMs = 6e-6

/** Parses a large text in slices, all of them in its owner's share of the event loop. */
async function readLarge(text: string, { room }: Reading, bytes: number): Promise<JsonObject> {
  const share = room?.share()
  const body = await readObject(text, async (ms) => {
    await new Promise((resolve) => void setImmediate(resolve))
    await share?.spend(ms)
  })
  // The next work of this owner waits for it, not this request.
  share?.note(bytes * usedByteMs)
  return body
}

/**
 * Reads the bytes of a body as they were sent, up to a limit, for the check of a signature over them. Rejects with
 * `invalid_request`.
 */
export async function readBytes(
  request: Request,
  limitBytes: number,
  server: Pick<Server, 'timeout'>,
): Promise<Uint8Array> {
  server.timeout(request, slowBodySeconds)
  const bytes = await readPieces(request, { limitBytes, server })
  server.timeout(request, 0)
  return bytes
}

interface Entering {
  request: Request
  share: BodyShare
  server: Reading['server']
}

/** Adds bytes to the share. */
async function enter(entering: Entering, bytes: number): Promise<void> {
  const waiting = entering.share.take(bytes)
  if (waiting) await pausing(entering, waiting)
}

/** Waits while the runtime's timeout of the sender is suspended. */
async function pausing({ request, share, server }: Entering, waiting: Promise<void>) {
  server.timeout(request, 0)
  // A client that has disconnected gives up its place.
  const leave = () => share.release()
  request.signal.addEventListener('abort', leave, { once: true })
  try {
    await waiting
  } finally {
    request.signal.removeEventListener('abort', leave)
    server.timeout(request, slowBodySeconds)
  }
}

/**
 * Reads piece by piece, and stops beyond the limit. A declared length counts at once: until there is room nothing
 * is read from the connection, so that a waiting body costs nothing. Without one a body counts as it grows: first
 * for little, then for the most that it may have, so that of bodies that grow side by side one completes before
 * the others hold much.
 */
async function readPieces(request: Request, reading: Reading, told?: number): Promise<Buffer> {
  const { limitBytes, server, room, mostMs = bodyMs } = reading
  if (!request.body) throw invalidRequest(null, 'invalid_json', 'The request has no body.')
  const share = room?.share()
  if (share && told !== undefined) await enter({ request, share, server }, told)
  const reader = request.body.getReader()
  const pieces = new Pieces()
  if (told !== undefined) pieces.reserve(told)
  const read = async () => {
    for (;;) {
      const { value } = await reader.read()
      if (!value) return
      if (pieces.bytes + value.byteLength > limitBytes) throw tooLarge(limitBytes)
      pieces.add(value)
      const turn = share?.spend(value.byteLength * readByteMs)
      if (share && turn) await pausing({ request, share, server }, turn)
      if (!share || pieces.bytes <= Math.max(smallBytes, share.bytes)) continue
      const next = pieces.bytes > middleBytes ? limitBytes : Math.min(limitBytes, middleBytes)
      await enter({ request, share, server }, next - share.bytes)
      if (next > middleBytes) pieces.reserve(next)
    }
  }
  try {
    const all = inTime(read(), mostMs)
    await (share ? share.whileReading(all) : all)
  } catch (thrown) {
    throw thrown instanceof ApiError ? thrown : broken()
  } finally {
    // The handler that answers takes care of the unread rest.
    reader.releaseLock()
  }
  return pieces.whole()
}

/** The pieces read of a body: in one buffer as soon as its maximum length is known. */
class Pieces {
  #whole: Buffer | undefined
  #pieces: Uint8Array[] = []
  bytes = 0

  /** Allocates memory of its own: pages that are not written to are not resident. */
  reserve(bytes: number): void {
    const whole = Buffer.allocUnsafeSlow(bytes)
    let at = 0
    for (const piece of this.#pieces) {
      whole.set(piece, at)
      at += piece.byteLength
    }
    this.#pieces = []
    this.#whole = whole
  }

  add(piece: Uint8Array): void {
    if (this.#whole) this.#whole.set(piece, this.bytes)
    else this.#pieces.push(piece)
    this.bytes += piece.byteLength
  }

  whole(): Buffer {
    return this.#whole?.subarray(0, this.bytes) ?? Buffer.concat(this.#pieces)
  }
}

/** Rejects with `invalid_request` after a timeout; the connection, which still carries the rest, is closed. */
const inTime = <Read>(reading: Promise<Read>, ms: number): Promise<Read> =>
  withTimeout(reading, ms, () => new TooSlow(ms))

class TooSlow extends ApiError<'invalid_request'> {
  override readonly closes = true

  constructor(ms: number) {
    const message = `The body did not come to its end within ${ms / 1000} s.`
    super('invalid_request', { message, details: { issue: 'invalid_json' } })
  }
}

const broken = () => invalidRequest(null, 'invalid_json', 'The body broke off before its end.')
