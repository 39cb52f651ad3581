import { HeldBytes } from './held-bytes'

/** An upstream's answer: its head, and a body that is pulled. It is read to its end, or cancelled. */
export interface Answer {
  readonly status: number
  /** By a name in any case; values of a field sent several times are joined by `, `. */
  readonly headers: { get: (name: string) => string | null }
  /**
   * The next bytes of the body, decompressed; undefined after its end. One read at a time. Rejects
   * with `ConnectionFailed`, or the reason of the request's signal.
   */
  read: () => Promise<Uint8Array | undefined>
  /** The rest of the body as text. Throws `AnswerTooLong`, and as `read` does. */
  text: (maxBytes?: number) => Promise<string>
  /** Stops reading. Calling it twice is harmless, and so is calling it after the end. */
  cancel: () => void
}

/** A body has more bytes than the reader's maximum. */
export class AnswerTooLong extends Error {
  override readonly name = 'AnswerTooLong'
}

export const defaultMaxBytes = 20 * 1024 * 1024
/** Beyond this number the pieces are joined as they arrive: each is an object many times its size. */
const maxChunks = 256

/** Reads the rest of a body, and cancels it where it is too long. Throws as `Answer.text` does. */
export async function readBody(
  answer: Pick<Answer, 'read' | 'cancel'>,
  maxBytes = defaultMaxBytes,
): Promise<Buffer> {
  const pieces: Uint8Array[] = []
  const many = new HeldBytes()
  let size = 0
  for (let piece = await answer.read(); piece; piece = await answer.read()) {
    size += piece.byteLength
    if (size > maxBytes) {
      answer.cancel()
      throw new AnswerTooLong(`an answer has more than ${maxBytes} bytes`)
    }
    pieces.push(piece)
    if (pieces.length === maxChunks) for (const each of pieces.splice(0)) many.add(each)
  }
  if (many.length > 0) {
    for (const each of pieces) many.add(each)
    return Buffer.from(many.take() ?? [])
  }
  const [first] = pieces
  return pieces.length === 1 && Buffer.isBuffer(first) ? first : Buffer.concat(pieces)
}

/** Reads a body as text. Throws as `Answer.text` does. */
export async function readText(
  answer: Pick<Answer, 'read' | 'cancel'>,
  maxBytes?: number,
): Promise<string> {
  return decodeText(await readBody(answer, maxBytes))
}

/** Decodes a body, without a byte order mark, which no parser accepts. */
export function decodeText(body: Buffer): string {
  const text = body.toString('utf8')
  return text.startsWith('\uFEFF') ? text.slice(1) : text
}

/** An answer without an upstream, in the same shape: those of the sandbox. */
export class LocalAnswer implements Answer {
  readonly status: number
  readonly headers: Headers
  readonly #reader

  constructor(response: Response) {
    this.status = response.status
    this.headers = response.headers
    this.#reader = response.body?.getReader()
  }

  async read(): Promise<Uint8Array | undefined> {
    return (await this.#reader?.read())?.value
  }

  text(maxBytes?: number): Promise<string> {
    return readText(this, maxBytes)
  }

  cancel(): void {
    this.#reader?.cancel().catch(() => undefined)
  }
}
