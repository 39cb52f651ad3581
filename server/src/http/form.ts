import { Busboy, type BusboyHeaders } from '@fastify/busboy'
import { reserveShare } from './body'
import type { BodyShare } from './body-share'
import type { Server } from './env'
import { FormPace, FormTooSlow } from './form-pace'
import { fileTooLarge, filesTooLarge, FormParts } from './form-parts'
import type { FormTurn } from './form-turns'
import type { Uploads } from './upload-directory'
import { ApiError, invalidRequest } from '../errors'
import type { Clock } from '../platform/clock'
import { releaseBuffer } from '../platform/release-buffer'
import { withTimeout } from '../platform/with-timeout'
import type { ReadBody } from '../wire/json-body'
import type { FormLimits } from '../wire/uploaded-file'

interface Reading {
  limits: FormLimits
  uploads: Uploads
  /** The account of the sender. */
  owner: string
  server: Pick<Server, 'timeout'>
  clock?: Clock
}

/** A form that was read. Its files are on disk until it is disposed of. */
export interface ReadForm extends ReadBody, AsyncDisposable {}

/** Fields and files of one form. */
const maxParts = 100
const maxFieldBytes = 1 << 20
/** The headers of one part. */
const maxHeaderBytes = 8 << 10
const maxHeaders = 16
/** Beside the files: fields, headers and boundaries. */
const maxExtraBytes = 4 << 20
const minFormBytes = 1 << 20
/** A form of unknown length takes room in such steps. */
const stepBytes = 8 << 20
/** The runtime ends a sender that is silent for so long, without an answer: `FormPace` rejects it before. */
const silentSeconds = 30
const maxMs = 15 * 60_000
const readByteMs = 2e-6
const multipart = /^multipart\/form-data\s*;.*boundary=/i

/**
 * Reads a form as it arrives: its fields into memory, its files to disk. Rejects with `invalid_request`, also where it
 * arrives too slowly, and with `gateway_unavailable` where there is no room; then nothing of it remains.
 */
export async function readForm(request: Request, reading: Reading): Promise<ReadForm> {
  const { limits, uploads, owner, server } = reading
  const type = checkHeaders(request)
  const declaredBytes = declaredLength(request, limits)
  const parts = new FormParts(limits, uploads.directory)
  const share = uploads.budget.open(owner)
  const dispose = async () => {
    await parts[Symbol.asyncDispose]()
    share.release()
  }
  uploads.counts.begin()
  server.timeout(request, silentSeconds)
  using turn = uploads.turns.open(owner)
  try {
    const entering = { request, share, server }
    const waiting = reserveShare(entering, Math.max(minFormBytes, declaredBytes ?? stepBytes))
    await waiting
    const piped = pipe(request, { ...reading, type, declaredBytes, share, parts, turn })
    const bytes = await share.whileReading(piped)
    server.timeout(request, 0)
    uploads.counts.end(true)
    return { body: parts.body, bytes, [Symbol.asyncDispose]: dispose }
  } catch (thrown) {
    uploads.counts.end(false)
    await dispose()
    throw thrown
  }
}

/** Returns the content type. Throws `invalid_request`. */
function checkHeaders({ headers }: Request): string {
  const type = headers.get('content-type') ?? ''
  if (!multipart.test(type))
    throw invalidRequest(null, 'wrong_content_type', 'Send the body as multipart/form-data.')
  const encoding = headers.get('content-encoding')
  if (encoding && encoding !== 'identity')
    throw invalidRequest(
      null,
      'wrong_content_type',
      'Compressed request bodies are not supported. Send it uncompressed.',
    )
  return type
}

function declaredLength({ headers }: Request, limits: FormLimits): number | undefined {
  const length = headers.get('content-length') ?? ''
  if (!/^\d+$/.test(length)) return undefined
  const bytes = Number(length)
  if (bytes > maxBytesOf(limits)) throw tooLarge(limits)
  return bytes
}

const maxBytesOf = ({ files, maxFileBytes, maxFilesBytes = Infinity }: FormLimits): number => {
  const maxCount = Object.values(files).reduce((sum, count) => sum + count, 0)
  return maxExtraBytes + Math.min(maxFilesBytes, maxFileBytes * maxCount)
}

function tooLarge({ files, maxFileBytes, maxFilesBytes }: FormLimits) {
  const [field = null] = Object.keys(files)
  return maxFilesBytes === undefined
    ? fileTooLarge(field, maxFileBytes)
    : filesTooLarge(maxFilesBytes)
}

type Parser = InstanceType<typeof Busboy>

interface Piping extends Reading {
  type: string
  declaredBytes: number | undefined
  share: BodyShare
  parts: FormParts
  turn: FormTurn
}

/** Feeds the parser as fast as the files can be written. Resolves with the length of the form once all are. */
async function pipe(request: Request, piping: Piping): Promise<number> {
  const { type, parts, clock } = piping
  const { promise: failed, reject } = Promise.withResolvers<never>()
  failed.catch(() => undefined)
  const parser = createParser(type, { parts, reject })
  const source: { reader?: Reader } = {}
  const read = async () => {
    // The runtime keeps more of a body once it was touched.
    await waitForTurn(request, piping)
    if (!request.body) throw invalidRequest(null, 'bad_format', 'The request has no body.')
    const reader = request.body.getReader()
    source.reader = reader
    const bytes = await feed({ reader, request, piping, parser })
    // What the runtime keeps for further pieces is freed at once.
    await reader.cancel()
    await ended(parser)
    await parts.flush()
    parts.addWrittenFiles()
    return bytes
  }
  try {
    const reading = Promise.race([read(), failed])
    return await withTimeout(reading, maxMs, { late: tooSlow(parts), ...(clock && { clock }) })
  } catch (thrown) {
    throw thrown instanceof ApiError ? thrown : broken(thrown)
  } finally {
    // The handler that answers takes care of the unread rest.
    source.reader?.releaseLock()
    parser.destroy()
  }
}

interface Receiving {
  parts: FormParts
  reject: (reason: unknown) => void
}

function createParser(type: string, { parts, reject }: Receiving): Parser {
  const headers: BusboyHeaders = { 'content-type': type }
  const parser = new Busboy({
    headers,
    // A path in a name is refused, not cut off.
    preservePath: true,
    limits: {
      parts: maxParts,
      fieldSize: maxFieldBytes,
      headerPairs: maxHeaders,
      headerSize: maxHeaderBytes,
    },
  })
  const attempt = (add: () => void) => {
    try {
      add()
    } catch (thrown) {
      reject(thrown)
    }
  }
  parser.on('field', (name: unknown, value, ...[, isTruncated]) =>
    attempt(() => parts.addField({ name, isTruncated }, value)),
  )
  parser.on('file', (name: unknown, stream, ...[filename, , mimeType]) => {
    stream.on('error', () => undefined)
    attempt(() => parts.addFile({ name, stream, filename, type: mimeType }, reject))
  })
  parser.on('partsLimit', () =>
    reject(
      invalidRequest(null, 'too_many', `The form has more than ${maxParts} fields and files.`),
    ),
  )
  parser.on('error', (thrown) => reject(broken(thrown)))
  return parser
}

/** Waits for the turn of a form. That is no slowness of its sender, whose times are suspended meanwhile. */
async function waitForTurn(request: Request, { turn, share, server }: Piping): Promise<void> {
  const waiting = turn.begin()
  if (!waiting) return
  const leftMs = share.dueMs - performance.now()
  share.dueMs = Infinity
  server.timeout(request, 0)
  try {
    await waiting
  } finally {
    server.timeout(request, silentSeconds)
    share.dueMs = performance.now() + leftMs
  }
}

type Reader = Pick<ReadableStreamDefaultReader<Uint8Array>, 'read' | 'cancel' | 'releaseLock'>

interface Feeding {
  reader: Reader
  request: Request
  piping: Piping
  parser: Parser
}

async function feed({ reader, request, piping, parser }: Feeding): Promise<number> {
  const { limits, share, server, clock, parts, turn, uploads, declaredBytes } = piping
  const maxBytes = maxBytesOf(limits)
  const pace = new FormPace(tooSlow(parts), clock)
  const entering = { request, share, server }
  let bytes = 0
  let pause: Promise<void> | undefined
  for (;;) {
    if (pause) await pace.pausing(pause)
    await pace.pausing(waitForTurn(request, piping))
    const { value } = await turn.whileReading(pace.within(reader.read(), bytes))
    if (!value) return bytes
    bytes += value.byteLength
    uploads.counts.add(value.byteLength)
    share.readBytes = bytes
    if (bytes > maxBytes) throw tooLarge(limits)
    pause = share.spend(value.byteLength * readByteMs)
    pause?.catch(() => undefined)
    if (bytes > share.bytes) {
      // Others do not wait behind a form that waits for room on disk.
      turn.end()
      await pace.pausing(reserveShare(entering, stepBytes))
    }
    await pace.pausing(parse(parser, value))
    await pace.pausing(parts.flush())
    // Left to the collector, the pieces of many forms would add up: they lie outside of its heap.
    releaseBuffer(value)
    if (bytes === declaredBytes) return bytes
  }
}

/** Resolves once the parser has taken all of a piece. */
function parse(parser: Parser, piece: Uint8Array): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  parser.write(piece, () => resolve())
  return promise
}

function ended(parser: Parser): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  parser.once('finish', resolve)
  parser.end()
  return promise
}

/** Names the file that was arriving. */
const tooSlow = (parts: FormParts) => () => new FormTooSlow(parts.arrivingField)

const broken = (cause: unknown) =>
  new ApiError('invalid_request', {
    message: 'The form cannot be read: it is damaged, or its connection closed before its end.',
    details: { issue: 'bad_format' },
    cause,
  })
