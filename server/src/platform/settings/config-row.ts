import { sql, type Kysely } from 'kysely'
import type { Settings } from './settings'
import type { Schema } from '../db/schema'

/** The store of settings: one row for all nodes. */
export interface ConfigRow {
  read: () => Promise<object>
  /** Replaces the values of these names; a group keeps its other fields. */
  change: (column: string) => Promise<void>
}

/** Settings that are objects with named fields. */
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
