import type { Logger } from 'pino'
import type { BookingStorage } from './book-usage'
import { runExclusively } from '../platform/db/advisory-lock'
import { dailyTables, makePartitions } from '../platform/db/partitions'

/** The dependencies of creating partitions. */
export interface PartitionDependencies {
  storage: Pick<BookingStorage, 'database'>
  log: Logger
}

/** Creates the missing partitions of usage events and logs; a failure is retried within an hour. */
export async function openPartitions(dependencies: PartitionDependencies): Promise<void> {
  await runExclusively(dependencies.storage.database.query, 'upkeep', () =>
    addPartitions(dependencies),
  ).catch((err: unknown) =>
    dependencies.log.warn({ err }, 'partitions of usage could not be checked'),
  )
}

/** Creates the missing partitions; a table whose partition cannot be made keeps rows in its default one. */
export async function addPartitions({ storage, log }: PartitionDependencies): Promise<void> {
  for (const table of dailyTables) {
    await makePartitions(storage.database.query, table, (partition, err) =>
      log.warn(
        { err, partition },
        'rows are written to the default partition; retrying in an hour',
      ),
    )
  }
}
