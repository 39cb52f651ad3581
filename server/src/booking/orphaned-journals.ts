import { realpath } from 'node:fs/promises'
import { openPartitions } from './partitions'
import { identifyDirectory, replay, maxRecoveryWaitMs } from './recover-journal'
import { openBooking, type BookingDependencies } from './usage'
import { DirectoryLock } from '../platform/db/data-directory'
import { newId } from '../platform/db/id'
import { findJournalDirectories } from '../journal/directories'

const firstDelayMs = 1000
const maxDelayMs = 30_000

/**
 * Books the journals of another process layout: those of workers, if one process or fewer workers start now, or that
 * of a single process, if workers do. The caller holds the data directory; a worker's own directory is locked while it
 * is booked, so that no other process writes to it. A start waits for this as it waits for its own journal; what
 * cannot be booked yet is retried until `stack` ends it.
 */
export async function bookOrphanedJournals(
  dependencies: BookingDependencies,
  stack: AsyncDisposableStack,
): Promise<void> {
  // The launcher of a worker has already booked them.
  const orphaned =
    dependencies.config.worker === undefined ? findOrphanedJournals(dependencies) : []
  if (orphaned.length === 0) return
  await openPartitions(dependencies)
  const stopping = new AbortController()
  const first = bookAll(orphaned, dependencies, stopping.signal)
  const all = first.then((failed) => retryBooking(failed, dependencies, stopping.signal))
  stack.defer(async () => {
    stopping.abort()
    await all
  })
  await Promise.race([first, Bun.sleep(maxRecoveryWaitMs)])
}

/** Returns the journals that no process of the current layout writes to. */
const findOrphanedJournals = ({ config, storage: { dataDir } }: BookingDependencies): string[] =>
  findJournalDirectories(dataDir).flatMap(({ path, worker }) => {
    const isCurrent =
      config.workers > 1 ? worker !== undefined && worker <= config.workers : !worker
    return isCurrent ? [] : [path]
  })

/** Tries each of them once. Resolves with those that could not be booked; never rejects. */
async function bookAll(
  directories: readonly string[],
  dependencies: BookingDependencies,
  signal: AbortSignal,
): Promise<string[]> {
  const failed: string[] = []
  for (const directory of directories) {
    if (signal.aborted) break
    await bookOne(directory, dependencies).catch((err: unknown) => {
      failed.push(directory)
      dependencies.log.error(
        { err, directory },
        'a journal in another layout could not be booked yet',
      )
    })
  }
  return failed
}

async function retryBooking(
  directories: string[],
  dependencies: BookingDependencies,
  signal: AbortSignal,
): Promise<void> {
  let remaining = directories
  for (let delayMs = firstDelayMs; remaining.length > 0 && !signal.aborted; delayMs *= 2) {
    await pause(Math.min(delayMs, maxDelayMs), signal)
    remaining = await bookAll(remaining, dependencies, signal)
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, ms)
  signal.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true })
  return promise
}

/** Books a journal as the start of a process on its directory would. */
async function bookOne(directory: string, dependencies: BookingDependencies): Promise<void> {
  const { log, crashAt } = dependencies
  await using stack = new AsyncDisposableStack()
  // The caller already holds its own directory, and opening that lock again would release it.
  if (directory !== dependencies.storage.dataDir) stack.use(DirectoryLock.take(directory))
  const storage = { ...dependencies.storage, dataDir: await realpath(directory) }
  const { journal, flusher } = await openBooking({ ...dependencies, storage }, stack)
  const usage = { directory, settled: journal.size, orphans: journal.open.orphaned }
  const node = { id: newId('node'), location: await identifyDirectory(storage.dataDir) }
  await replay({ storage, log, crashAt, node, journal, flusher })
  if (usage.settled + usage.orphans === 0) return
  log.warn(usage, 'a journal in another layout was booked')
}
