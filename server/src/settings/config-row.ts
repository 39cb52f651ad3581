import { sql, type Kysely } from 'kysely'
import type { Schema } from '../db/schema'

/** Where settings are stored: one row for all nodes. */
export interface ConfigRow {
  read: () => Promise<object>
  /** Puts these values in the place of those of the same names; a group keeps its other fields. */
  change: (column: string) => Promise<void>
}

export const configRowIn = (db: Kysely<Schema>): ConfigRow => ({
  read: async () => {
    const { rows } = await sql<{ settings: object }>`select settings from config`.execute(db)
    return rows[0]?.settings ?? {}
  },
  change: async (column) => {
    await sql`
      update config set
        settings = settings || change || jsonb_build_object(
          'rates', coalesce(settings -> 'rates', '{}') || coalesce(change -> 'rates', '{}'),
          'timers', coalesce(settings -> 'timers', '{}') || coalesce(change -> 'timers', '{}')
        ),
        updated_at = now()
      from (select ${column}::jsonb as change) as wanted`.execute(db)
  },
})
