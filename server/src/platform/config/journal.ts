import { z } from 'zod'

const hourMs = 3_600_000

export const journalVariables = {
  JOURNAL_SYNC: z.enum(['always', 'batch']).default('always'),
  JOURNAL_KEEP_HOURS: z.coerce.number().min(0).max(720, 'must be at most 30 days: 720').default(0),
}

/** The settings of the usage journal on this node's disk. */
export interface JournalConfig {
  /** When usage is synced to disk: before each answer ends, or once a second. */
  journalSync: 'always' | 'batch'
  /** The time for which booked journal files are kept, for a restore of an older backup, in milliseconds. */
  journalKeptMs: number
}

const Variables = z.object(journalVariables)

export const toJournalConfig = (env: z.output<typeof Variables>): JournalConfig => ({
  journalSync: env.JOURNAL_SYNC,
  journalKeptMs: env.JOURNAL_KEEP_HOURS * hourMs,
})
