import { sql, type Kysely } from 'kysely'
import type { Settings } from './settings'
import type { Schema } from '../db/schema'

/** Where settings are stored: one row for all nodes. */
export interface ConfigRow {
  read: () => Promise<object>
  /** Puts these values in the place of those of the same names; a group keeps its other fields. */
  change: (column: string) => Promise<void>
}

/** Values that have names in them. */
const groups: readonly (keyof Settings)[] = ['ownerPriceLimits', 'rates', 'timers']

export const configRowIn = (db: Kysely<Schema>): ConfigRow => ({
  read: async () => {
    const { rows } = await sql<{ settings: object }>`select settings from config`.execute(db)
    return rows[0]?.settings ?? {}
  },
  change: async (column) => {
    await sql`
      update config set
        settings = settings || change || (
          select jsonb_object_agg(
            name, coalesce(settings -> name, '{}') || coalesce(change -> name, '{}')
          ) from unnest(${[...groups]}::text[]) as name
        ),
        updated_at = now()
      from (select ${column}::jsonb as change) as wanted`.execute(db)
  },
})
