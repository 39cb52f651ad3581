import { join } from 'node:path'
import { nodeFileSystem, type JournalFileSystem } from './file-system'
import { readLines, type JournalLine } from './line'

/** One row as the caller wrote it. `seq` rises with every row and is not used twice. */
export interface JournalRow {
  seq: number
  attemptId: string
  body: string
  /** The source of the body, where this process made it and still has it. */
  origin?: object | undefined
}

/** The record of an attempt that has begun, as its caller wrote it. */
export interface OpenRecord {
  attemptId: string
  body: string
}

/** More bytes than a segment ever has, so that positions in later ones are higher. */
export const maxSegmentBytes = 2 ** 27

/** Returns a position in the whole log. A settled row's number is the position at which its line ends. */
export const positionOf = (generation: number, offset: number) =>
  generation * maxSegmentBytes + offset

export const generationOf = (position: number) => Math.floor(position / maxSegmentBytes)

/** Returns the offset of a position in its segment. */
export const offsetOf = (position: number) => position % maxSegmentBytes

const nameWidth = 8
const names = /^journal-(\d+)\.(log|spare|kept)$/

const pathOf = (directory: string, generation: number, ending: string) =>
  join(directory, `journal-${String(generation).padStart(nameWidth, '0')}.${ending}`)

export const segmentPath = (directory: string, generation: number) =>
  pathOf(directory, generation, 'log')

/** Returns the path of a spare: a segment whose content is no longer needed. */
export const sparePath = (directory: string, generation: number) =>
  pathOf(directory, generation, 'spare')

/** Returns the path of a booked segment that is kept for a while. */
export const retainedPath = (directory: string, generation: number) =>
  pathOf(directory, generation, 'kept')

/** Returns all files that may have settled attempts, booked or not, spares included. */
export const filesOf = (directory: string, fileSystem = nodeFileSystem): string[] =>
  fileSystem
    .list(directory)
    .filter((name) => /^journal-\d+\.(log|spare|kept)$/.test(name))
    .toSorted()
    .map((name) => join(directory, name))

/** Reads the bodies of all settled attempts in a file, those of an earlier use of it as well. */
export function* readSettled(bytes: Buffer): Generator<string> {
  for (const line of readLines(bytes)) {
    if (line?.kind !== '=') continue
    const entry = toEntry(line, bytes)
    if (entry?.kind === '=') yield entry.body
  }
}

const rising = (a: number, b: number) => a - b

/** Returns the generations of the files in a directory, rising. */
export function listSegments(
  directory: string,
  fileSystem: Pick<JournalFileSystem, 'list'>,
): { logs: number[]; spares: number[]; kept: number[] } {
  const logs: number[] = []
  const spares: number[] = []
  const keptGenerations: number[] = []
  for (const name of fileSystem.list(directory)) {
    const [, digits, ending] = names.exec(name) ?? []
    // Another spelling of a number would be another file.
    const generation = Number(digits)
    if (pathOf('', generation, ending ?? '') !== name) continue
    if (ending === 'log') logs.push(generation)
    else if (ending === 'spare') spares.push(generation)
    else keptGenerations.push(generation)
  }
  return {
    logs: logs.toSorted(rising),
    spares: spares.toSorted(rising),
    kept: keptGenerations.toSorted(rising),
  }
}

/** The booked mark of a log, and the generation before which its damage has been reported. */
export interface Mark {
  booked: number
  reported: number
}

/** The content of one valid line of a segment. */
export type JournalEntry =
  | ({ kind: '+' } & OpenRecord)
  | ({ kind: '=' } & JournalRow)
  | ({ kind: '-' } & Mark)

/** A segment's content, or what follows in it after the end of a line. */
export interface Segment {
  generation: number
  bytes: Buffer
  /** The offset at which `bytes` begin, 0 by default. */
  start?: number
}

export function readSegment(
  directory: string,
  generation: number,
  fileSystem: JournalFileSystem,
): Segment {
  return { generation, bytes: fileSystem.readFile(segmentPath(directory, generation)) }
}

/** Reads the lines of a segment's own generation; others remain from an earlier use of the file. */
export function* readEntries({ generation, bytes, start }: Segment): Generator<JournalEntry> {
  for (const line of readLines(bytes)) {
    const entry = line?.generation === generation ? toEntry(line, bytes, start) : undefined
    if (entry) yield entry
  }
}

function toEntry(
  { kind, generation, start, end }: JournalLine,
  bytes: Buffer,
  offset = 0,
): JournalEntry | undefined {
  const text = bytes.toString('utf8', start, end)
  const space = text.indexOf(' ')
  const key = text.slice(0, space)
  const rest = text.slice(space + 1)
  if (kind === '-') return { kind, booked: Number(key), reported: Number(rest) }
  if (kind === '+') return { kind, attemptId: key, body: rest }
  return { kind, seq: positionOf(generation, offset + end + 1), attemptId: key, body: rest }
}

/**
 * Describes the damage of a segment. Broken bytes behind all lines of its generation are no damage: a write that
 * a kill interrupted looks so, and was never confirmed.
 */
export function findDamage({ generation, bytes }: Segment): string | undefined {
  let isBroken = false
  let isSound = bytes.length === 0
  for (const line of readLines(bytes)) {
    if (line?.generation !== generation) {
      isBroken = true
      // The file was reused, and the process died before its first line.
      if (line) isSound = true
    } else {
      if (isBroken) return 'lines before its end are damaged'
      isSound = true
    }
  }
  return isSound ? undefined : 'it has no line that can be read'
}
