import type { Logger } from 'pino'
import type { BookingStorage } from './book-usage'
import { runExclusively } from '../platform/db/advisory-lock'
import { dailyTables, makePartitions } from '../platform/db/partitions'

/** The dependencies of creating partitions. */
export interface PartitionParts {
  storage: Pick<BookingStorage, 'database'>
  log: Logger
}

/** Creates the missing partitions of usage events and logs; a failure is retried within an hour. */
export async function openPartitions(parts: PartitionParts): Promise<void> {
  await runExclusively(parts.storage.database.query, 'upkeep', () => addPartitions(parts)).catch(
    (err: unknown) => parts.log.warn({ err }, 'partitions of usage could not be looked at'),
  )
}

/** Creates the missing partitions; a table whose partition cannot be made keeps rows in its default one. */
export async function addPartitions({ storage, log }: PartitionParts): Promise<void> {
  for (const table of dailyTables) {
    await makePartitions(storage.database.query, table, (partition, err) =>
      log.warn({ err, partition }, 'rows go to the default partition; trying again in an hour'),
    )
  }
}
