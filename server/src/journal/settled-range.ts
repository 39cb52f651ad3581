import { nodeFileSystem, type JournalFileSystem } from './file-system'
import {
  generationOf,
  listSegments,
  offsetOf,
  readEntries,
  segmentPath,
  type JournalRow,
} from './segment'

/** Consecutive settled rows of a log. */
export interface SettledRange {
  /** A position at the start of a line, at or before that of the first row: reading begins there. */
  start: number
  /** The numbers of the first and the last row. */
  first: number
  last: number
  /** The number of rows. */
  count: number
}

/** Thrown where not all rows of a range can be read. */
export class UnreadableRows extends Error {
  override readonly name = 'UnreadableRows'
}

/** The file operations of a process that reads while the journal's own process appends. */
type ReadableFiles = Pick<JournalFileSystem, 'list' | 'open' | 'statOpen' | 'read' | 'close'>

/**
 * Reads settled rows of a directory whose journal another process writes: it has written them, and drops them only after
 * this. Reads no more of the files than the range. Throws `UnreadableRows`.
 */
export function readSettledRange(
  directory: string,
  range: SettledRange,
  fileSystem: ReadableFiles = nodeFileSystem,
): JournalRow[] {
  let rows: JournalRow[]
  try {
    rows = readRows(directory, range, fileSystem)
  } catch (cause) {
    throw new UnreadableRows(`the journal in ${directory} cannot be read`, { cause })
  }
  if (rows.length === range.count) return rows
  throw new UnreadableRows(
    `${rows.length} of ${range.count} settled rows of the journal in ${directory} can be read`,
  )
}

function readRows(directory: string, range: SettledRange, fileSystem: ReadableFiles): JournalRow[] {
  const [first, last] = [generationOf(range.start), generationOf(range.last)]
  const rows: JournalRow[] = []
  for (const generation of listSegments(directory, fileSystem).logs) {
    if (generation < first || generation > last) continue
    const start = generation === first ? offsetOf(range.start) : 0
    const fd = fileSystem.open(segmentPath(directory, generation), 'r')
    try {
      const end = generation === last ? offsetOf(range.last) : fileSystem.statOpen(fd).bytes
      const bytes = Buffer.allocUnsafe(Math.max(0, end - start))
      const length = fileSystem.read(fd, bytes, start)
      for (const entry of readEntries({ generation, start, bytes: bytes.subarray(0, length) })) {
        if (entry.kind === '=' && entry.seq >= range.first) rows.push(entry)
      }
    } finally {
      fileSystem.close(fd)
    }
  }
  return rows
}
