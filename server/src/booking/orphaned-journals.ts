import { realpath } from 'node:fs/promises'
import { openPartitions } from './partitions'
import { placeOf, replay, replayPatienceMs } from './recover-journal'
import { openBooking, type BookingParts } from './usage'
import { DirectoryLock } from '../platform/db/data-directory'
import { newId } from '../platform/db/id'
import { findJournalDirectories } from '../journal/directories'

const firstDelayMs = 1000
const longestDelayMs = 30_000

/**
 * Books the journals of another process layout: those of workers, if one process or fewer workers start now, or that
 * of a single process, if workers do. The caller holds the data directory; a worker's own directory is locked while it
 * is booked, so that no other process writes to it. A start waits for this as it waits for its own journal; what
 * cannot be booked yet is retried until `stack` ends it.
 */
export async function bookLeftJournals(
  parts: BookingParts,
  stack: AsyncDisposableStack,
): Promise<void> {
  // The launcher of a worker has already booked them.
  const left = parts.config.worker === undefined ? leftIn(parts) : []
  if (left.length === 0) return
  await openPartitions(parts)
  const stopping = new AbortController()
  const first = bookAll(left, parts, stopping.signal)
  const all = first.then((still) => bookLater(still, parts, stopping.signal))
  stack.defer(async () => {
    stopping.abort()
    await all
  })
  await Promise.race([first, Bun.sleep(replayPatienceMs)])
}

/** Returns the journals that no process of the current layout writes to. */
const leftIn = ({ config, storage: { dataDir } }: BookingParts): string[] =>
  findJournalDirectories(dataDir).flatMap(({ path, worker }) => {
    const isOfToday =
      config.workers > 1 ? worker !== undefined && worker <= config.workers : !worker
    return isOfToday ? [] : [path]
  })

/** Tries each of them once. Resolves with those that could not be booked; never rejects. */
async function bookAll(
  directories: readonly string[],
  parts: BookingParts,
  signal: AbortSignal,
): Promise<string[]> {
  const still: string[] = []
  for (const directory of directories) {
    if (signal.aborted) break
    await bookOne(directory, parts).catch((err: unknown) => {
      still.push(directory)
      parts.log.error({ err, directory }, 'a journal of another layout could not be booked yet')
    })
  }
  return still
}

async function bookLater(
  directories: string[],
  parts: BookingParts,
  signal: AbortSignal,
): Promise<void> {
  let left = directories
  for (let delayMs = firstDelayMs; left.length > 0 && !signal.aborted; delayMs *= 2) {
    await pause(Math.min(delayMs, longestDelayMs), signal)
    left = await bookAll(left, parts, signal)
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, ms)
  signal.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true })
  return promise
}

/** Books a journal as the start of a process on its directory would. */
async function bookOne(directory: string, parts: BookingParts): Promise<void> {
  const { log, crashAt } = parts
  await using stack = new AsyncDisposableStack()
  // The caller already holds its own directory, and opening that lock again would release it.
  if (directory !== parts.storage.dataDir) stack.use(DirectoryLock.take(directory))
  const storage = { ...parts.storage, dataDir: await realpath(directory) }
  const { journal, flusher } = await openBooking({ ...parts, storage }, stack)
  const found = { directory, settled: journal.size, orphans: journal.open.orphaned }
  const node = { id: newId('node'), place: await placeOf(storage.dataDir) }
  await replay({ storage, log, crashAt, node, journal, flusher })
  if (found.settled + found.orphans === 0) return
  log.warn(found, 'a journal of another layout was booked')
}
