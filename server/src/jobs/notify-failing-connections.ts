import type { Kysely } from 'kysely'
import type { Logger } from 'pino'
import { notifyFailingConnections } from '../alerts/failing-connections'
import type { Clock } from '../platform/clock'
import type { Schema } from '../platform/db/schema'
import { Periodic } from '../platform/periodic'

interface Dependencies {
  db: Kysely<Schema>
  intervalMs: number
  log: Logger
  clock: Clock
}

/** The notifications of failing connections. Rows are taken for update: two nodes notify of none twice. */
export const createFailingConnectionNotices = ({
  db,
  intervalMs,
  log,
  clock,
}: Dependencies): Periodic =>
  new Periodic({
    intervalMs,
    clock,
    run: async () => void (await notifyFailingConnections(db, clock.wallMs())),
    onError: (err) => log.warn({ err }, 'failing connections could not be notified of'),
  })
