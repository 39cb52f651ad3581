/**
 * SQLite's write-ahead log, read without SQLite: that stops at the first frame that fails its
 * checksum and forgets all that follow, without a word.
 * @see https://sqlite.org/fileformat2.html#the_write_ahead_log
 */

export const headerBytes = 32
const frameHeaderBytes = 24

// The checksum's words are little-endian, as they are wherever Tollgate runs.
const magic = 0x377f0682

/** Where a frame has its salts, for logs of databases with that page size. */
export const saltsAt = (frame: number, pageBytes: number) =>
  headerBytes + frame * (frameHeaderBytes + pageBytes) + 8

type Sum = readonly [number, number]

function sumOf(bytes: Buffer, [first, second]: Sum): Sum {
  for (let offset = 0; offset < bytes.length; offset += 8) {
    first = (first + bytes.readUInt32LE(offset) + second) >>> 0
    second = (second + bytes.readUInt32LE(offset + 4) + first) >>> 0
  }
  return [first, second]
}

const storedSum = (bytes: Buffer, offset: number): Sum => [
  bytes.readUInt32BE(offset),
  bytes.readUInt32BE(offset + 4),
]

const isSame = (one: Sum, other: Sum) => one[0] === other[0] && one[1] === other[1]

const frameSum = (frame: Buffer, before: Sum) =>
  sumOf(frame.subarray(frameHeaderBytes), sumOf(frame.subarray(0, 8), before))

function* framesOf(log: Buffer, pageBytes: number): Generator<Buffer> {
  const size = frameHeaderBytes + pageBytes
  for (let start = headerBytes; start + size <= log.length; start += size) {
    yield log.subarray(start, start + size)
  }
}

const isHeaderSound = (log: Buffer) =>
  log.readUInt32BE(0) === magic && isSame(sumOf(log.subarray(0, 24), [0, 0]), storedSum(log, 24))

/** Whether a log holds nothing: it is missing, empty, cut inside its header, or was made void. */
export const isVoid = (log: Buffer | undefined): boolean =>
  log === undefined ||
  log.length < headerBytes ||
  log.subarray(0, headerBytes).every((byte) => byte === 0)

/**
 * Whether a log goes on behind a frame where SQLite would stop. A last frame that fails is none: so
 * looks a write that a kill interrupted, and nobody was told that it was done.
 */
export function isDamaged(log: Buffer, pageBytes: number): boolean {
  if (isVoid(log)) return false
  if (!isHeaderSound(log)) return true
  const salts = log.subarray(16, 24)
  let sum: Sum | undefined = storedSum(log, 24)
  for (const frame of framesOf(log, pageBytes)) {
    // Other salts are what is left of an earlier use of the file, unless ours go on behind it.
    const isOurs = salts.equals(frame.subarray(8, 16))
    if (isOurs && !sum) return true
    sum = sum && isOurs ? frameSum(frame, sum) : undefined
    if (sum && !isSame(sum, storedSum(frame, 16))) sum = undefined
  }
  return false
}

/**
 * The log with all frames of its last use, damaged ones too, and sums that hold again: what it says
 * is to be taken row by row, by the rows' own checksums. Every image of page 1, which holds the
 * schema, becomes `firstPage`.
 */
export function repaired(log: Buffer, firstPage: Buffer): Buffer {
  const pageBytes = firstPage.length
  const frames = [...framesOf(log, pageBytes)]
  const header = Buffer.alloc(headerBytes)
  header.writeUInt32BE(magic, 0)
  header.writeUInt32BE(3_007_000, 4)
  header.writeUInt32BE(pageBytes, 8)
  // The header's salts, or where it is damaged those of the first frame, which is never an old one.
  const salts = isHeaderSound(log) ? log.subarray(16, 24) : (frames[0]?.subarray(8, 16) ?? header)
  header.set(salts.subarray(0, 8), 16)
  let sum = sumOf(header.subarray(0, 24), [0, 0])
  writeSum(header, 24, sum)
  const parts = [header]
  const last = frames.findLastIndex((frame) => salts.equals(frame.subarray(8, 16)))
  for (const damaged of frames.slice(0, last + 1)) {
    const frame = Buffer.from(damaged)
    if (frame.readUInt32BE(0) === 1) frame.set(firstPage, frameHeaderBytes)
    frame.set(salts.subarray(0, 8), 8)
    sum = frameSum(frame, sum)
    writeSum(frame, 16, sum)
    parts.push(frame)
  }
  return Buffer.concat(parts)
}

function writeSum(bytes: Buffer, offset: number, [first, second]: Sum): void {
  bytes.writeUInt32BE(first, offset)
  bytes.writeUInt32BE(second, offset + 4)
}
