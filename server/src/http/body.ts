import type { Server } from './env'
import { ApiError, invalidRequest } from '../errors'
import { parseObject, type JsonObject } from '../wire/json-body'
import { within } from '../within'

/** Below about 16 KB/s the runtime cuts a body after so long. */
const slowBodySeconds = 20
const json = /^application\/json\s*(;\s*charset\s*=\s*"?utf-8"?\s*)?$/i

const tooLarge = (limitBytes: number) =>
  invalidRequest(
    null,
    'body_too_large',
    `The body is larger than ${limitBytes / 1024} KB, the most that is accepted here.`,
  )

/** A body that comes steadily may take so long as a whole; that pace has no end by itself. */
const bodyMs = 120_000
/** Smaller ones have come by then at the pace below which the runtime cuts. */
const soonBytes = 1 << 20

interface Reading {
  limitBytes: number
  server: Pick<Server, 'timeout'>
  mostMs?: number
  onText?: ((text: string) => void) | undefined
}

/**
 * The JSON object of a request's body and its length in bytes; `onText` gets the text it was. Rejects
 * with `invalid_request`: wrong content type, compressed, too large, not JSON. Reading stops at the limit.
 */
export async function readJson(
  request: Request,
  { limitBytes, server, onText, mostMs = bodyMs }: Reading,
): Promise<{ body: JsonObject; bytes: number }> {
  const { headers } = request
  const type = headers.get('content-type') ?? ''
  if (type !== 'application/json' && !json.test(type)) {
    throw invalidRequest(null, 'wrong_content_type', 'Send the body as application/json in UTF-8.')
  }
  const encoding = headers.get('content-encoding')
  if (encoding && encoding !== 'identity') {
    throw invalidRequest(null, 'wrong_content_type', 'A compressed body is not accepted.')
  }
  // Two equal lengths arrive as one text with a comma, which says nothing.
  const length = headers.get('content-length') ?? ''
  const bytes = /^\d+$/.test(length) ? Number(length) : undefined
  if (bytes !== undefined && bytes > limitBytes) throw tooLarge(limitBytes)
  server.timeout(request, slowBodySeconds)
  let text: string
  let size = bytes
  try {
    if (size === undefined) {
      const read = await inTime(readPieces(request, limitBytes), mostMs)
      text = read.toString('utf8')
      size = read.byteLength
    } else text = await readText(request, size, mostMs)
  } catch (thrown) {
    throw thrown instanceof ApiError ? thrown : broken()
  }
  // An answer may take as long as its own timers allow.
  server.timeout(request, 0)
  onText?.(text)
  return { body: parseObject(text), bytes: size }
}

/**
 * The bytes of a body as they were sent, at most so many, for who checks a signature over them. Rejects
 * with `invalid_request`.
 */
export async function readBytes(
  request: Request,
  limitBytes: number,
  server: Pick<Server, 'timeout'>,
): Promise<Uint8Array> {
  server.timeout(request, slowBodySeconds)
  const bytes = await inTime(readPieces(request, limitBytes), bodyMs)
  server.timeout(request, 0)
  return bytes
}

async function readPieces(request: Request, limitBytes: number): Promise<Buffer> {
  if (!request.body) throw invalidRequest(null, 'invalid_json', 'The request has no body.')
  const pieces: Uint8Array[] = []
  let bytes = 0
  try {
    for await (const piece of request.body) {
      bytes += piece.byteLength
      if (bytes > limitBytes) break
      pieces.push(piece)
    }
  } catch {
    throw broken()
  }
  if (bytes > limitBytes) throw tooLarge(limitBytes)
  return Buffer.concat(pieces)
}

const readText = (request: Request, bytes: number, mostMs: number) =>
  bytes > soonBytes ? inTime(request.text(), mostMs) : request.text()

/** Rejects with `invalid_request` after so long; the connection, which still has the rest, is closed. */
const inTime = <Read>(reading: Promise<Read>, ms: number): Promise<Read> =>
  within(reading, ms, () => new TooSlow(ms))

class TooSlow extends ApiError<'invalid_request'> {
  override readonly closes = true

  constructor(ms: number) {
    const message = `The body did not come to its end within ${ms / 1000} s.`
    super('invalid_request', { message, details: { issue: 'invalid_json' } })
  }
}

const broken = () => invalidRequest(null, 'invalid_json', 'The body broke off before its end.')
