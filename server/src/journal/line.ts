/** `+`: an attempt begins; `=`: it is settled; `-`: how far the log is booked. */
export type LineKind = '+' | '=' | '-'

/** One valid line, by its position in the bytes it was read from. */
export interface JournalLine {
  kind: LineKind
  generation: number
  /** The text after the generation, from `start` to `end`, where the newline is or was. */
  start: number
  end: number
}

const sumWidth = 7
const base = 36
const newline = 10
const space = 32
const kindOf = new Map<number, LineKind>([
  [0x2b, '+'],
  [0x3d, '='],
  [0x2d, '-'],
])
const digits = Buffer.from('0123456789abcdefghijklmnopqrstuvwxyz')
const seeds = {
  '+': Bun.hash.crc32('+'),
  '=': Bun.hash.crc32('='),
  '-': Bun.hash.crc32('-'),
} satisfies Record<LineKind, number>

const firstBytes = 64 * 1024
/** A buffer that one enormous batch enlarged is not kept. */
const maxBufferBytes = 4 * 1024 * 1024
/** The most bytes of one character of a string, in UTF-8. */
const maxBytesACharacter = 3

/**
 * Builds lines as a segment has them: `<kind><crc> <generation> <rest>`, the checksum in seven digits of base 36,
 * over the whole line but itself. Written into one reused buffer.
 */
export class Lines {
  #buffer = Buffer.allocUnsafe(firstBytes)
  #length = 0
  #generation = ''

  /** Returns the added lines; valid until the next `restart`. */
  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length)
  }

  get length(): number {
    return this.#length
  }

  restart(generation: number): void {
    if (this.#buffer.length > maxBufferBytes) this.#buffer = Buffer.allocUnsafe(firstBytes)
    this.#length = 0
    this.#generation = ` ${generation.toString(base)} `
  }

  /** `key` is ASCII; `text` has no newline. */
  add(kind: LineKind, key: string, text: string): void {
    const head = `${this.#generation}${key} `
    const fixed = 1 + sumWidth + head.length + 1
    const buffer = this.#withRoomFor(fixed + text.length * maxBytesACharacter)
    const start = this.#length
    const summed = start + 1 + sumWidth
    let at = summed + buffer.write(head, summed, 'latin1')
    at += buffer.write(text, at)
    // Over the strings, which have the same bytes in UTF-8: a view of the written ones would cost more than their
    // sum.
    let sum = Bun.hash.crc32(text, Bun.hash.crc32(head, seeds[kind]))
    buffer[start] = kind.charCodeAt(0)
    for (let digit = summed - 1; digit > start; digit--) {
      buffer[digit] = digits[sum % base] ?? 0
      sum = Math.floor(sum / base)
    }
    buffer[at] = newline
    this.#length = at + 1
  }

  #withRoomFor(bytes: number): Buffer {
    const needed = this.#length + bytes
    if (needed <= this.#buffer.length) return this.#buffer
    const larger = Buffer.allocUnsafe(2 * needed)
    this.#buffer.copy(larger, 0, 0, this.#length)
    return (this.#buffer = larger)
  }
}

/** Reads the number in base 36 from `start` to `end`, -1 where there is none. */
function numberAt(bytes: Buffer, start: number, end: number): number {
  if (start >= end) return -1
  let number = 0
  for (let at = start; at < end; at++) {
    const byte = bytes[at] ?? 0
    const isDigit = byte >= 0x30 && byte <= 0x39
    if (!isDigit && (byte < 0x61 || byte > 0x7a)) return -1
    number = number * base + byte - (isDigit ? 0x30 : 0x57)
  }
  return number
}

/** Reads the line from `start` to `end`; undefined where the bytes are no valid line. */
function lineAt(bytes: Buffer, start: number, end: number): JournalLine | undefined {
  const kind = kindOf.get(bytes[start] ?? 0)
  const summed = start + 1 + sumWidth
  if (!kind || summed >= end || bytes[summed] !== space) return undefined
  const rest = bytes.indexOf(space, summed + 1) + 1
  if (rest === 0 || rest > end) return undefined
  const generation = numberAt(bytes, summed + 1, rest - 1)
  if (generation < 0) return undefined
  const sum = Bun.hash.crc32(bytes.subarray(summed, end), seeds[kind])
  if (sum !== numberAt(bytes, start + 1, summed)) return undefined
  return { kind, generation, start: rest, end }
}

/** Reads all valid lines, in order; undefined for each stretch of invalid bytes. */
export function* readLines(bytes: Buffer): Generator<JournalLine | undefined> {
  let start = 0
  while (start < bytes.length) {
    const at = bytes.indexOf(newline, start)
    const end = at < 0 ? bytes.length : at
    const line = lineAt(bytes, start, end)
    if (line) yield line
    else if (end > start) yield* linesIn(bytes, start, end)
    start = end + 1
  }
}

/**
 * Finds lines in damaged bytes: where the newline between two lines is broken, or a torn line is followed by
 * another.
 */
function linesIn(bytes: Buffer, start: number, end: number): (JournalLine | undefined)[] {
  const lines: (JournalLine | undefined)[] = []
  for (let at = end - 1; at >= start; at--) {
    // A space at that distance is rare enough to justify the checksum.
    const line = bytes[at + 1 + sumWidth] === space ? lineAt(bytes, at, end) : undefined
    if (!line) continue
    lines.unshift(undefined, line)
    end = at - 1
    at = end
  }
  return lines.length > 0 ? lines : [undefined]
}
