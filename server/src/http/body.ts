import { invalidRequest } from '../errors'
import { parseObject, type JsonObject } from '../wire/json-body'

/** Below about 16 KB/s the runtime cuts a body after so long. */
const slowBodySeconds = 20
const json = /^application\/json\s*(;\s*charset\s*=\s*"?utf-8"?\s*)?$/i

const tooLarge = (limitBytes: number) =>
  invalidRequest(
    null,
    'body_too_large',
    `The body is larger than ${limitBytes / 1024} KB, the most that is accepted here.`,
  )

/**
 * The JSON object of a request's body, its length in bytes, and the text it was. Rejects with
 * `invalid_request`: wrong content type, compressed, too large, not JSON. Reading stops at the limit.
 */
export async function readJson(
  request: Request,
  limitBytes: number,
  server: Bun.Server<undefined>,
): Promise<{ body: JsonObject; bytes: number; text: string }> {
  const { headers } = request
  if (!json.test(headers.get('content-type') ?? '')) {
    throw invalidRequest(null, 'wrong_content_type', 'Send the body as application/json in UTF-8.')
  }
  const encoding = headers.get('content-encoding')
  if (encoding && encoding !== 'identity') {
    throw invalidRequest(null, 'wrong_content_type', 'A compressed body is not accepted.')
  }
  // Two equal lengths arrive as one text with a comma, which says nothing.
  const [length] = /^\d+$/.exec(headers.get('content-length') ?? '') ?? []
  if (Number(length) > limitBytes) throw tooLarge(limitBytes)
  server.timeout(request, slowBodySeconds)
  const { text, bytes } =
    length === undefined ? await readLimited(request, limitBytes) : await readKnown(request, length)
  // An answer may take as long as its own timers allow.
  server.timeout(request, 0)
  return { body: parseObject(text), bytes, text }
}

/**
 * The bytes of a body as they were sent, at most so many, for who checks a signature over them. Rejects
 * with `invalid_request`.
 */
export async function readBytes(
  request: Request,
  limitBytes: number,
  server: Bun.Server<undefined>,
): Promise<Uint8Array> {
  server.timeout(request, slowBodySeconds)
  const bytes = await readPieces(request, limitBytes)
  server.timeout(request, 0)
  return bytes
}

async function readKnown(request: Request, length: string) {
  try {
    return { text: await request.text(), bytes: Number(length) }
  } catch {
    throw broken()
  }
}

async function readLimited(request: Request, limitBytes: number) {
  const read = await readPieces(request, limitBytes)
  return { text: read.toString('utf8'), bytes: read.byteLength }
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

const broken = () => invalidRequest(null, 'invalid_json', 'The body broke off before its end.')
