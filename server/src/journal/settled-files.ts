import { readFile } from 'node:fs/promises'
import { nodeFileSystem, type JournalFileSystem } from './file-system'
import { listSegments, readSettled, retainedPath, segmentPath, sparePath } from './segment'

/** The settled attempts in one file of a journal, booked or not. */
export interface SettledFile {
  /** When it was last written, in milliseconds of the wall clock. */
  modifiedMs: number
  bodies: string[]
}

type ReadableFiles = Pick<JournalFileSystem, 'list' | 'stat'> & {
  readFile: (path: string) => Buffer | Promise<Buffer>
}

const files: ReadableFiles = { ...nodeFileSystem, readFile: (path) => readFile(path) }

/**
 * Reads the files of a directory, the newest first, as far as they are there: its journal may be in use, and release
 * files meanwhile.
 */
export async function* readSettledFiles(
  directory: string,
  fileSystem = files,
): AsyncGenerator<SettledFile> {
  const { logs, kept, spares } = listSegments(directory, fileSystem)
  for (const generation of [...new Set([...logs, ...kept, ...spares])].toSorted((a, b) => b - a)) {
    const file = await readGeneration(directory, generation, fileSystem)
    if (file) yield file
  }
}

/** Looks for a file under the names that it has one after the other. */
async function readGeneration(
  directory: string,
  generation: number,
  fileSystem: ReadableFiles,
): Promise<SettledFile | undefined> {
  for (const pathOf of [segmentPath, retainedPath, sparePath]) {
    const path = pathOf(directory, generation)
    const { modifiedMs } = fileSystem.stat(path) ?? {}
    if (modifiedMs === undefined) continue
    const bytes = await readOrNothing(path, fileSystem)
    if (bytes) return { modifiedMs, bodies: [...readSettled(bytes)] }
  }
  return undefined
}

async function readOrNothing(path: string, { readFile: read }: ReadableFiles) {
  try {
    return await read(path)
  } catch (thrown) {
    if (thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT') return undefined
    throw thrown
  }
}
