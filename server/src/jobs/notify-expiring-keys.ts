import type { Kysely } from 'kysely'
import type { Logger } from 'pino'
import { notifyExpiringKeys } from '../alerts/key-expiry'
import type { Clock } from '../platform/clock'
import type { Schema } from '../platform/db/schema'
import { Periodic } from '../platform/periodic'

interface Dependencies {
  db: Kysely<Schema>
  intervalMs: number
  log: Logger
  clock: Clock
}

/** The notifications of keys that expire soon. Rows are taken for update: two nodes notify of none twice. */
export const createKeyExpiryNotices = ({ db, intervalMs, log, clock }: Dependencies): Periodic =>
  new Periodic({
    intervalMs,
    clock,
    run: async () => void (await notifyExpiringKeys(db, clock.wallMs())),
    onError: (err) => log.warn({ err }, 'expiring keys could not be notified of'),
  })
