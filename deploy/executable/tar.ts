/** An entry of an archive: a folder, a file or a link. */
export interface Entry {
  /** Relative, with slashes, of at most 100 bytes. */
  path: string
  mode: number
  bytes?: Uint8Array
  /** Where a link leads. */
  target?: string
}

const block = 512
const octal = (value: number, length: number) => `${value.toString(8).padStart(length - 1, '0')}\0`

/** @see https://pubs.opengroup.org/onlinepubs/9799919799/utilities/pax.html, ustar */
function headerOf({ path, mode, bytes, target = '' }: Entry): Uint8Array {
  const kind = target !== '' ? '2' : bytes ? '0' : '5'
  const header = new Uint8Array(block)
  const write = (text: string, at: number, length: number) => {
    const encoded = new TextEncoder().encode(text)
    if (encoded.length > length) throw new Error(`too long for the archive: ${text}`)
    header.set(encoded, at)
  }
  write(path, 0, 100)
  write(octal(mode, 8), 100, 8)
  // Of nobody in particular and of no time, so that the same files make the same archive.
  write(octal(0, 8), 108, 8)
  write(octal(0, 8), 116, 8)
  write(octal(bytes?.length ?? 0, 12), 124, 12)
  write(octal(0, 12), 136, 12)
  write(' '.repeat(8), 148, 8)
  write(kind, 156, 1)
  write(target, 157, 100)
  write('ustar\x0000', 257, 8)
  const sum = header.reduce((total, byte) => total + byte, 0)
  write(`${octal(sum, 7)} `, 148, 8)
  return header
}

/** A tar archive of these entries, in the order of their paths. */
export function tarOf(entries: readonly Entry[]): Uint8Array<ArrayBuffer> {
  const sorted = entries.toSorted((one, other) => (one.path < other.path ? -1 : 1))
  const parts = sorted.flatMap((entry) => {
    const { bytes = new Uint8Array() } = entry
    const padding = (block - (bytes.length % block)) % block
    return [headerOf(entry), bytes, new Uint8Array(padding)]
  })
  return new Uint8Array(Bun.concatArrayBuffers([...parts, new Uint8Array(2 * block)]))
}
