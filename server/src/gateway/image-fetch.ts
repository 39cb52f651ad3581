import type { Answer } from '../upstream/http/answer'
import { ConnectionFailed } from '../upstream/http/connection-failed'
import type { GuardedWay } from '../upstream/http/egress'
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

interface Fetch {
  url: string
  /** The account whose request needs it. */
  owner: string
  signal: AbortSignal
  /** The maximum size of this image, in bytes. */
  mostBytes: number
  /** The bytes left for all images of the request together; decreases. */
  room: { bytes: number }
}

/** Signed URLs of cloud storage have up to some 2,000 characters. */
const longestAddress = 8192

const megabytes = (bytes: number) => `${Math.floor(bytes / 1024 / 1024)} MB`

/** Fetches one image. Throws `ImageRefused`, or the reason of the signal. */
export async function fetchImage(way: GuardedWay, fetch: Fetch): Promise<MediaData> {
  try {
    const bytes = await read(await ask(way, fetch), fetch)
    const mimeType = detectMediaType(bytes)
    if (mimeType !== undefined) return { mimeType, base64: bytes.toString('base64') }
    throw new ImageRefused('bad_format', 'what is there begins like no image that models read')
  } catch (thrown) {
    if (fetch.signal.aborted) throw fetch.signal.reason
    throw thrown instanceof ImageRefused ? thrown : refused(thrown)
  }
}

function refused(thrown: unknown): ImageRefused {
  if (thrown instanceof AddressRefused && thrown.refusal !== undefined) {
    const [first = '', ...rest] = thrown.refusal.replace(/\.$/, '')
    return new ImageRefused('not_allowed', `${first.toLowerCase()}${rest.join('')}`, thrown)
  }
  // The address that a name resolves to is not disclosed.
  const isUnreached = thrown instanceof ConnectionFailed && !thrown.connected
  const words = isUnreached ? 'its host could not be reached' : 'its host broke off'
  return new ImageRefused('bad_format', words, thrown)
}

async function ask(way: GuardedWay, { url, owner, signal }: Fetch): Promise<Answer> {
  if (url.length > longestAddress) {
    throw new ImageRefused('too_long', `its address has more than ${longestAddress} characters`)
  }
  // Compression would be undone here, and images have it already.
  const headers = {
    accept: 'image/*, application/pdf',
    'accept-encoding': 'identity',
    'user-agent': 'tollgate',
  }
  const response = await way.send({ url, owner, signal, method: 'GET', headers })
  if (response.status === 200) return response
  response.cancel()
  const isRedirect = response.status >= 300 && response.status < 400
  throw new ImageRefused(
    'bad_format',
    isRedirect
      ? 'it leads on to another address, and redirects are not followed'
      : `its host answers with status ${response.status}`,
  )
}

/** Reads the whole body, unless it is too long. */
async function read(answer: Answer, { mostBytes, room }: Fetch): Promise<Buffer> {
  const told = Number(answer.headers.get('content-length') ?? 0)
  const pieces: Uint8Array[] = []
  let size = 0
  const count = (bytes: number) => {
    if (bytes > mostBytes) {
      throw new ImageRefused('too_long', `it has more than ${megabytes(mostBytes)}`)
    }
    if (bytes - size > room.bytes) {
      throw new ImageRefused('too_many', 'the images of the request are too large together')
    }
  }
  try {
    count(told)
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
