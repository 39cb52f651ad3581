import { z } from 'zod'
import { integer } from './fields'
import { setting } from './setting'

const megabyte = 1024 * 1024
const minuteMs = 60_000
const hourMs = 3_600_000

/** The settings of the usage journal. */
export const journalSettings = {
  journalSync: setting(z.enum(['always', 'batch']).default('always'), {
    name: 'JOURNAL_SYNC',
    doc: 'when usage is synced to disk: before each response ends, or once a second (`batch`), which a power cut may lose ([money.md](../concepts/money.md#journal))',
  }),
  journalKeptMs: setting(
    z.coerce
      .number()
      .min(0)
      .max(720, 'must be at most 30 days: 720')
      .default(0)
      .transform((hours) => hours * hourMs),
    {
      name: 'JOURNAL_KEEP_HOURS',
      doc: 'how long booked journal files are kept, for a restore of an older backup ([operations.md](operations.md))',
    },
  ),
  journalRecentMs: setting(
    z.coerce
      .number()
      .min(0)
      .max(1440, 'must be at most a day: 1440')
      .default(10)
      .transform((minutes) => minutes * minuteMs),
    {
      name: 'JOURNAL_KEEP_MINUTES',
      doc: 'how long the latest booked journal files are kept, for a failover of the database to a standby that lags ([operations.md](operations.md#failover-of-the-database)); 0 for not at all',
    },
  ),
  journalRecentBytes: setting(
    integer(1, 1_000_000)
      .default(64)
      .transform((megabytes) => megabytes * megabyte),
    {
      name: 'JOURNAL_KEEP_MB',
      doc: 'how many megabytes of them at most; of workers, for each',
    },
  ),
}
