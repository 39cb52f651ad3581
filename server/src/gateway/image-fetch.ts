import type { FetchSlots } from './fetch-slots'
import type { Answer } from '../upstream/http/answer'
import { ConnectionFailed } from '../upstream/http/connection-failed'
import type { GuardedTransport } from '../upstream/http/egress'
import { AddressRefused } from '../upstream/http/guarded-egress'
import type { Issue } from '../errors'
import type { MediaData } from '../providers/media'
import { detectMediaType } from '../providers/media-type'

/** A URL leads to no image that can be sent on; the message is for its caller. */
export class ImageRefused extends Error {
  override readonly name = 'ImageRefused'
  readonly issue: Issue

  constructor(issue: Issue, message: string, cause?: unknown) {
    super(message, { cause })
    this.issue = issue
  }
}

/** The limits of the images fetched for one request. */
interface ImageLimits {
  maxImages: number
  maxBytes: number
  /** For all its images together. */
  maxTotalBytes: number
  maxConcurrent: number
  /** For all of them, from the first to the last byte. */
  timeoutMs: number
}

/** As base64 they are as long as the longest body that clients may send. */
export const imageLimits: ImageLimits = {
  maxImages: 32,
  maxBytes: 20 * 1024 * 1024,
  maxTotalBytes: 24 * 1024 * 1024,
  maxConcurrent: 4,
  timeoutMs: 20_000,
}

/** The dependencies of fetching images; the transport is always the guarded one. */
export interface ImagePorts {
  transport: GuardedTransport
  slots: FetchSlots
  limits: ImageLimits
}

interface Fetch {
  url: string
  /** The account whose request needs it. */
  owner: string
  signal: AbortSignal
  /** The maximum size of this image, in bytes. */
  maxBytes: number
  /** The bytes left for all images of the request together; decreases. */
  room: { bytes: number }
}

/** Signed URLs of cloud storage have up to some 2,000 characters. */
const maxUrlLength = 8192

const megabytes = (bytes: number) => `${Math.floor(bytes / 1024 / 1024)} MB`

/** Fetches one image. Throws `ImageRefused`, or the reason of the signal. */
export async function fetchImage(transport: GuardedTransport, fetch: Fetch): Promise<MediaData> {
  try {
    const bytes = await read(await request(transport, fetch), fetch)
    const mimeType = detectMediaType(bytes)
    if (mimeType !== undefined) return { mimeType, base64: bytes.toString('base64') }
    throw new ImageRefused('bad_format', 'the content is not an image in a supported format')
  } catch (thrown) {
    if (fetch.signal.aborted) throw fetch.signal.reason
    throw thrown instanceof ImageRefused ? thrown : toImageRefused(thrown)
  }
}

function toImageRefused(thrown: unknown): ImageRefused {
  if (thrown instanceof AddressRefused && thrown.refusal !== undefined) {
    const [first = '', ...rest] = thrown.refusal.replace(/\.$/, '')
    return new ImageRefused('not_allowed', `${first.toLowerCase()}${rest.join('')}`, thrown)
  }
  // The address that a name resolves to is not disclosed.
  const isUnreached = thrown instanceof ConnectionFailed && !thrown.connected
  const message = isUnreached ? 'its host could not be reached' : 'its host closed the connection'
  return new ImageRefused('bad_format', message, thrown)
}

async function request(
  transport: GuardedTransport,
  { url, owner, signal }: Fetch,
): Promise<Answer> {
  if (url.length > maxUrlLength) {
    throw new ImageRefused('too_long', `its URL has more than ${maxUrlLength} characters`)
  }
  // Compression would be undone here, and images have it already.
  const headers = {
    accept: 'image/*, application/pdf',
    'accept-encoding': 'identity',
    'user-agent': 'tollgate',
  }
  const response = await transport.send({ url, owner, signal, method: 'GET', headers })
  if (response.status === 200) return response
  response.cancel()
  const isRedirect = response.status >= 300 && response.status < 400
  throw new ImageRefused(
    'bad_format',
    isRedirect
      ? 'it redirects to another URL, and redirects are not followed'
      : `its host returned status ${response.status}`,
  )
}

/** Reads the whole body, unless it is too long. */
async function read(answer: Answer, { maxBytes, room }: Fetch): Promise<Buffer> {
  const declaredBytes = Number(answer.headers.get('content-length') ?? 0)
  const pieces: Uint8Array[] = []
  let size = 0
  const count = (bytes: number) => {
    if (bytes > maxBytes) {
      throw new ImageRefused('too_long', `it is larger than ${megabytes(maxBytes)}`)
    }
    if (bytes - size > room.bytes) {
      throw new ImageRefused('too_many', 'the images of this request exceed the total size limit')
    }
  }
  try {
    count(declaredBytes)
    for (let piece = await answer.read(); piece; piece = await answer.read()) {
      count(size + piece.byteLength)
      size += piece.byteLength
      room.bytes -= piece.byteLength
      pieces.push(piece)
    }
  } finally {
    // Drops the rest of a body that is too long.
    answer.cancel()
  }
  return Buffer.concat(pieces)
}
