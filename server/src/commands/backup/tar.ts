import { StartError } from '../../platform/config/config'

/** A file within an archive. */
export interface TarEntry {
  name: string
  bytes: Buffer
}

/** A member of an archive: a file, else a link, else a folder. */
export interface TarMember {
  /** Relative, with slashes, of at most 100 bytes. */
  name: string
  bytes?: Uint8Array
  /** The target of a link, of at most 100 bytes. */
  target?: string
  /** Readable by its owner only, by default. */
  mode?: number
}

const block = 512
/** Tollgate writes no larger entries: a reader holds one in memory. */
export const maxEntryBytes = 64 * 1024 * 1024

const octal = (value: number, width: number) => `${value.toString(8).padStart(width - 1, '0')}\0`

const sumOf = (header: Buffer) => header.reduce((sum, byte) => sum + byte, 0)

const paddingOf = (bytes: number) => (block - (bytes % block)) % block

const kindOf = ({ bytes, target }: TarMember) =>
  bytes !== undefined ? '0' : target !== undefined ? '2' : '5'

/**
 * Writes a member in the format of `tar`; `seconds` is its modification time. Throws for a member that `readTar` would
 * reject. Source: POSIX.1-2017 pax, "ustar".
 */
export function toTar(member: TarMember, seconds: number): Buffer {
  const { name, bytes = new Uint8Array(), target = '', mode = 0o600 } = member
  const header = Buffer.alloc(block)
  const put = (text: string, at: number) => header.write(text, at)
  for (const text of [name, target]) {
    if (Buffer.byteLength(text) > 100) throw new Error(`${text} is too long for a name`)
  }
  if (bytes.length > maxEntryBytes) throw new Error(`${name} is too large for an entry`)
  put(name, 0)
  put(octal(mode, 8), 100)
  put(octal(0, 8), 108)
  put(octal(0, 8), 116)
  put(octal(bytes.length, 12), 124)
  put(octal(seconds, 12), 136)
  // The checksum is computed with blanks in its own field.
  put(' '.repeat(8), 148)
  put(kindOf(member), 156)
  put(target, 157)
  put('ustar\0', 257)
  put('00', 263)
  put(`${octal(sumOf(header), 7)} `, 148)
  return Buffer.concat([header, bytes, Buffer.alloc(paddingOf(bytes.length))])
}

/** The end marker of an archive. */
export const tarEnd = Buffer.alloc(2 * block)

/** Creates an archive, sorted by name and without times: the same files give the same archive. */
export function createTar(members: readonly TarMember[]): Buffer<ArrayBuffer> {
  const sorted = members.toSorted((one, other) => (one.name < other.name ? -1 : 1))
  return Buffer.concat([...sorted.map((member) => toTar(member, 0)), tarEnd])
}

const damaged = (reason: string) => new StartError(`This is no whole backup: ${reason}.`)

/** Reads exactly the requested number of bytes from a stream. */
class ExactReader {
  readonly #source: AsyncIterator<Buffer>
  #remainder: Buffer = Buffer.alloc(0)

  constructor(source: AsyncIterable<Buffer>) {
    this.#source = source[Symbol.asyncIterator]()
  }

  async take(count: number): Promise<Buffer> {
    const chunks: Buffer[] = [this.#remainder]
    let length = this.#remainder.length
    while (length < count) {
      const { value, done } = await this.#source.next()
      if (done) throw damaged('it ends in the middle')
      chunks.push(value)
      length += value.length
    }
    const all = Buffer.concat(chunks)
    this.#remainder = all.subarray(count)
    return all.subarray(0, count)
  }

  /** Reads the rest of the stream, which may contain nothing but zeros. */
  async end(): Promise<void> {
    for (let remainder: Buffer | undefined = this.#remainder; remainder;) {
      if (remainder.some((byte) => byte !== 0)) throw damaged('something stands behind its end')
      const { value, done } = await this.#source.next()
      remainder = done ? undefined : value
    }
  }
}

function headerOf(header: Buffer): { name: string; size: number } {
  const text = (start: number, end: number) =>
    header.toString('utf8', start, end).replace(/\0.*$/s, '').trim()
  const checksum = Number.parseInt(text(148, 156), 8)
  const own = Buffer.from(header).fill(' ', 148, 156)
  if (sumOf(own) !== checksum || !text(257, 263).startsWith('ustar')) {
    throw damaged('a header in it is damaged')
  }
  const size = Number.parseInt(text(124, 136), 8)
  if (!(size >= 0 && size <= maxEntryBytes)) throw damaged('a file in it is too large')
  return { name: text(0, 100), size }
}

/** Yields the files of an archive, one at a time. Throws `StartError` if it is damaged or truncated. */
export async function* readTar(source: AsyncIterable<Buffer>): AsyncGenerator<TarEntry> {
  const taker = new ExactReader(source)
  for (;;) {
    const header = await taker.take(block)
    // Reads to the end of the compressed stream, which may be truncated as well.
    if (header.every((byte) => byte === 0)) return taker.end()
    const { name, size } = headerOf(header)
    const bytes = await taker.take(size + paddingOf(size))
    yield { name, bytes: bytes.subarray(0, size) }
  }
}
