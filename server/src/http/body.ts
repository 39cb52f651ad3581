import { smallBytes } from './body-budget'
import type { BodyShare } from './body-share'
import type { Server } from './env'
import { ApiError, invalidRequest } from '../errors'
import { maxConcurrent, parseObject, readObject, type JsonObject } from '../wire/json-body'
import { yieldToLoop } from '../wire/json-slices'
import type { Clock } from '../platform/clock'
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
    `The body is larger than ${limitBytes / 1024} KB, the maximum of this endpoint.`,
  )

/** The most time for a whole body; the minimum pace alone sets no end. */
const bodyMs = 120_000

/** Accounts for the memory of large bodies. */
export interface BodyMemory {
  /** Opens the share of this request; bodies below `smallBytes` never call it. */
  share: () => BodyShare
}

interface Reading {
  limitBytes: number
  server: Pick<Server, 'timeout'>
  /** Undefined where bodies are not counted. The owner of the room releases the share. */
  memory?: BodyMemory | undefined
  maxMs?: number
  onText?: ((text: string) => void) | undefined
  /** The content types of the body, where it may have others than `application/json`. */
  mediaType?: RegExp
  clock?: Clock
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
  const { limitBytes, server, onText, mediaType = json } = reading
  const { headers } = request
  const type = headers.get('content-type') ?? ''
  if (type !== 'application/json' && !mediaType.test(type)) {
    throw invalidRequest(null, 'wrong_content_type', 'Send the body as application/json in UTF-8.')
  }
  const encoding = headers.get('content-encoding')
  if (encoding && encoding !== 'identity') {
    throw invalidRequest(
      null,
      'wrong_content_type',
      'Compressed request bodies are not supported. Send it uncompressed.',
    )
  }
  // Two equal lengths arrive as one text with a comma, which is not a number.
  const length = headers.get('content-length') ?? ''
  const bytes = /^\d+$/.test(length) ? Number(length) : undefined
  if (bytes !== undefined && bytes > limitBytes) throw tooLarge(limitBytes)
  server.timeout(request, slowBodySeconds)
  let text: string
  let size = bytes
  let copyMs = 0
  if (size === undefined || size > smallBytes) {
    const read = await readPieces(request, reading, size)
    const startedAt = performance.now()
    text = utf8.decode(read.bytes)
    copyMs = read.copyMs + performance.now() - startedAt
    size = read.bytes.byteLength
  } else text = await readWhole(request)
  // The answer has timeouts of its own.
  server.timeout(request, 0)
  onText?.(text)
  const isSmall = text.length <= maxConcurrent
  const body = isSmall ? parseObject(text) : await readLarge(text, reading, usedMs(size, copyMs))
  return { body, bytes: size }
}

/** Reads the text of a small body. Rejects with `invalid_request`. */
function readWhole(request: Request): Promise<string> {
  return request.text().catch(rejectBroken)
}

/** The cost of reading a body, and the least cost of using it once parsed, in milliseconds per byte. */
const readByteMs = 2e-6
const usedByteMs = 6e-6
/** On a machine that copies slowly, a use costs as much as so many copies; at most so many times the least. */
const usedCopies = 4
const maxSlowness = 3

/** Returns the cost of using a body, in milliseconds. A rejected body leaves as much garbage. */
function usedMs(bytes: number, copyMs: number): number {
  const leastMs = bytes * usedByteMs
  return Math.min(maxSlowness * leastMs, Math.max(leastMs, usedCopies * copyMs))
}

/** Parses a large text in slices, all of them in its owner's share of the event loop. */
function readLarge(text: string, { memory }: Reading, laterMs: number): Promise<JsonObject> {
  return readObject(text, memory?.share().parsing(laterMs) ?? yieldToLoop)
}

/** Starts parsing so many bytes that were stored, in the share of the account that reads them, as a body is parsed. */
export const parsingStored = (share: BodyShare, bytes: number) => share.parsing(bytes * usedByteMs)

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
  const { bytes } = await readPieces(request, { limitBytes, server })
  server.timeout(request, 0)
  return bytes
}

interface Entering {
  request: Request
  share: BodyShare
  server: Reading['server']
}

/** Adds bytes to the share, once there is room. */
export async function reserveShare(entering: Entering, bytes: number): Promise<void> {
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
async function readPieces(
  request: Request,
  reading: Reading,
  declaredBytes?: number,
): Promise<{ bytes: Buffer; copyMs: number }> {
  const { limitBytes, server, memory, maxMs = bodyMs, clock } = reading
  if (!request.body) throw invalidRequest(null, 'invalid_json', 'The request has no body.')
  const share = memory?.share()
  if (share && declaredBytes !== undefined)
    await reserveShare({ request, share, server }, declaredBytes)
  const reader = request.body.getReader()
  const pieces = new Pieces()
  if (declaredBytes !== undefined) pieces.reserve(declaredBytes)
  const read = async () => {
    for (;;) {
      const { value } = await reader.read()
      if (!value) return
      if (pieces.bytes + value.byteLength > limitBytes) throw tooLarge(limitBytes)
      pieces.add(value)
      if (share) share.readBytes = pieces.bytes
      const pause = share?.spend(value.byteLength * readByteMs)
      if (share && pause) await pausing({ request, share, server }, pause)
      if (!share || pieces.bytes <= Math.max(smallBytes, share.bytes)) continue
      const next = pieces.bytes > middleBytes ? limitBytes : Math.min(limitBytes, middleBytes)
      await reserveShare({ request, share, server }, next - share.bytes)
      if (next > middleBytes) pieces.reserve(next)
    }
  }
  try {
    const all = withTimeout(read(), maxMs, clock ? { ...whenSlow, clock } : whenSlow)
    await (share ? share.whileReading(all) : all)
  } catch (thrown) {
    throw thrown instanceof ApiError ? thrown : broken()
  } finally {
    // The handler that answers takes care of the unread rest.
    reader.releaseLock()
  }
  return { bytes: pieces.concat(), copyMs: pieces.copyMs }
}

/** The pieces read of a body: in one buffer as soon as its maximum length is known. */
class Pieces {
  #buffer: Buffer | undefined
  #pieces: Uint8Array[] = []
  bytes = 0
  /** The time that copying them has taken, in milliseconds. */
  copyMs = 0

  /** Allocates memory of its own: pages that are not written to are not resident. */
  reserve(bytes: number): void {
    const buffer = Buffer.allocUnsafeSlow(bytes)
    let at = 0
    for (const piece of this.#pieces) {
      buffer.set(piece, at)
      at += piece.byteLength
    }
    this.#pieces = []
    this.#buffer = buffer
  }

  add(piece: Uint8Array): void {
    const startedAt = performance.now()
    if (this.#buffer) this.#buffer.set(piece, this.bytes)
    else this.#pieces.push(piece)
    this.bytes += piece.byteLength
    this.copyMs += performance.now() - startedAt
  }

  concat(): Buffer {
    return this.#buffer?.subarray(0, this.bytes) ?? Buffer.concat(this.#pieces)
  }
}

/** Rejects with `invalid_request` after a timeout; the connection, which still carries the rest, is closed. */
const whenSlow = { late: (ms: number) => new TooSlow(ms) }

class TooSlow extends ApiError<'invalid_request'> {
  override readonly closes = true

  constructor(ms: number) {
    const message = `The body was not complete within ${ms / 1000} s.`
    super('invalid_request', { message, details: { issue: 'invalid_json' } })
  }
}

const broken = () =>
  invalidRequest(null, 'invalid_json', 'The connection closed before the end of the body.')

const rejectBroken = (): never => {
  throw broken()
}
