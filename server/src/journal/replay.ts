import { nodeFileSystem, type JournalFileSystem } from './file-system'
import {
  findDamage,
  readEntries,
  generationOf,
  listSegments,
  readSegment,
  segmentPath,
  type Mark,
  type Segment,
} from './segment'

/** Damage found in a journal when it was opened, and its treatment. */
export interface Damage {
  reason: string
  /** The path of a copy of the damaged file; undefined where there was nothing to keep. */
  setAside: string | undefined
  /** The number of settled rows of the journal that could be read. */
  settled: number
}

/** A segment that is kept only for its settled rows. */
export interface EarlierSegment {
  generation: number
  /** The last settled row, 0 where there is none. */
  lastSeq: number
}

/** The state that earlier starts left in a directory. */
export interface Replay {
  earlier: EarlierSegment[]
  spares: number[]
  /** The generations of booked files that were kept. */
  kept: number[]
  /** Bodies of attempts that have begun and not ended, by id. */
  open: Map<string, string>
  mark: Mark
  /** The number of settled rows that are not booked. */
  size: number
  damages: Damage[]
  nextGeneration: number
}

/**
 * Reads the log of a directory, one segment at a time. Copies damaged segments aside and reads them as far as
 * possible; the next segment marks the damage as reported, so that it is reported once.
 */
export function replay(directory: string, nowMs: number, fileSystem: JournalFileSystem): Replay {
  const { logs, spares, kept } = listSegments(directory, fileSystem)
  const nextGeneration = Math.max(0, ...logs, ...spares, ...kept) + 1
  const mark = lastMark(directory, logs, fileSystem)
  const replayed: Replay = {
    earlier: [],
    spares,
    kept,
    open: new Map(),
    mark,
    size: 0,
    damages: [],
    nextGeneration,
  }
  const note = (reason: string, setAside?: string) =>
    replayed.damages.push({ reason, setAside, settled: 0 })
  for (const gap of gapsIn(logs, mark)) note(`${gap} is missing`)
  for (const generation of logs) {
    const segment = readSegment(directory, generation, fileSystem)
    const reason = generation < mark.reported ? undefined : findDamage(segment)
    if (reason !== undefined) {
      const path = segmentPath(directory, generation)
      const setAside = `${path}.damaged-${nowMs}`
      fileSystem.copyFile(path, setAside)
      note(reason, setAside)
    }
    take(segment, replayed)
  }
  for (const damage of replayed.damages) damage.settled = replayed.size
  if (replayed.damages.length > 0) mark.reported = nextGeneration
  return replayed
}

/** Counts the settled rows of a directory that are not booked, and returns since when the first of them may wait. */
export function countUnbooked(
  directory: string,
  fileSystem = nodeFileSystem,
): { rows: number; oldest: Date | undefined } {
  const { logs } = listSegments(directory, fileSystem)
  const { booked } = lastMark(directory, logs, fileSystem)
  let rows = 0
  let oldest: Date | undefined
  for (const generation of logs) {
    const before = rows
    for (const entry of readEntries(readSegment(directory, generation, fileSystem))) {
      if (entry.kind === '=' && entry.seq > booked) rows += 1
    }
    if (rows === before || oldest) continue
    const { modifiedMs } = fileSystem.stat(segmentPath(directory, generation)) ?? {}
    if (modifiedMs !== undefined) oldest = new Date(modifiedMs)
  }
  return { rows, oldest }
}

/** Each segment begins with a mark, so the last ones have the highest. */
function lastMark(directory: string, logs: readonly number[], fileSystem: JournalFileSystem): Mark {
  for (const generation of logs.toReversed()) {
    let last: Mark | undefined
    for (const entry of readEntries(readSegment(directory, generation, fileSystem))) {
      if (entry.kind === '-') last = { booked: entry.booked, reported: entry.reported }
    }
    if (last) return last
  }
  return { booked: 0, reported: 0 }
}

/** Finds missing segments: from the first that is not all booked each one must be there. */
function* gapsIn(logs: readonly number[], { booked, reported }: Mark): Generator<string> {
  const isKnown = booked > 0
  let expected = Math.max(reported, isKnown ? generationOf(booked) : (logs[0] ?? 0))
  for (const generation of logs) {
    if (generation > expected) {
      const last = generation - 1
      yield last === expected ? `segment ${last}` : `segments ${expected} to ${last}`
    }
    expected = Math.max(expected, generation + 1)
  }
}

function take(segment: Segment, replayed: Replay): void {
  const { open, mark } = replayed
  let lastSeq = 0
  for (const entry of readEntries(segment)) {
    if (entry.kind === '+') open.set(entry.attemptId, entry.body)
    if (entry.kind !== '=') continue
    open.delete(entry.attemptId)
    lastSeq = entry.seq
    if (entry.seq > mark.booked) replayed.size += 1
  }
  replayed.earlier.push({ generation: segment.generation, lastSeq })
}
