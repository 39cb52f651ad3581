import { pipeline, Readable, Transform } from 'node:stream'
import {
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createZstdDecompress,
} from 'node:zlib'
import { AnswerTooLong, readText, type Answer } from './answer'

/** Decoders by name, as RFC 9110, 8.4.1 and RFC 8878 define them. */
const decoders: ReadonlyMap<string, () => Transform> = new Map(
  Object.entries({
    gzip: createGunzip,
    'x-gzip': createGunzip,
    deflate: createInflate,
    br: createBrotliDecompress,
    zstd: createZstdDecompress,
  }),
)

/**
 * Returns the answer with a body that is decompressed as it is read. Tollgate requests uncompressed answers, so few
 * need it; one that is compressed twice, or in an unknown way, fails when it is read.
 */
export function decodeAnswer(answer: Answer, coding: string): Answer {
  const name = coding.trim().toLowerCase()
  if (name === 'identity' || name === '') return answer
  return new DecodedAnswer(answer, decoders.get(name) ?? (() => unknown(name)))
}

/** The maximum ratio of decompressed to compressed bytes, for answers longer than the second bound. */
const maxRatio = 100
const maxFreeBytes = 1024 * 1024

const unknown = (coding: string): Transform => {
  const words = `the answer is compressed in an unknown way: ${JSON.stringify(coding.slice(0, 40))}`
  return new Transform({ transform: (_piece, _encoding, callback) => callback(new Error(words)) })
}

class DecodedAnswer implements Answer {
  readonly status: number
  readonly headers: Answer['headers']
  readonly #answer: Answer
  readonly #decoder: Transform
  readonly #pieces: AsyncIterator<Buffer>
  #encodedBytes = 0
  #decodedBytes = 0

  constructor(answer: Answer, decoder: () => Transform) {
    this.status = answer.status
    this.headers = answer.headers
    this.#answer = answer
    this.#decoder = decoder()
    // A failure is thrown to the reader of the pieces.
    pipeline(Readable.from(this.#encoded()), this.#decoder, () => undefined)
    this.#pieces = this.#decoder[Symbol.asyncIterator]()
  }

  async read(): Promise<Uint8Array | undefined> {
    try {
      const { value, done } = await this.#pieces.next()
      if (done) return undefined
      this.#decodedBytes += value.byteLength
      this.#checkRatio()
      return value
    } catch (thrown) {
      this.cancel()
      throw thrown
    }
  }

  /** Throws `AnswerTooLong` for a body that decompresses to far more bytes than arrived. */
  #checkRatio(): void {
    if (this.#decodedBytes <= Math.max(maxFreeBytes, maxRatio * this.#encodedBytes)) return
    throw new AnswerTooLong(`an answer is more than ${maxRatio} times as long as what came of it`)
  }

  async *#encoded() {
    for (let piece = await this.#answer.read(); piece; piece = await this.#answer.read()) {
      this.#encodedBytes += piece.byteLength
      yield piece
    }
  }

  text(maxBytes?: number): Promise<string> {
    return readText(this, maxBytes)
  }

  cancel(): void {
    this.#answer.cancel()
    this.#decoder.destroy()
  }
}
