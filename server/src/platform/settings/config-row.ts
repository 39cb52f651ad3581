import { sql, type Kysely } from 'kysely'
import { groupNames } from './stored-settings'
import type { Schema } from '../db/schema'

/** The store of settings: one row for all nodes. */
export interface ConfigRow {
  read: () => Promise<object>
  /** Replaces the values of these names; a group keeps its other fields. */
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
        settings = settings || change || (
          select jsonb_object_agg(
            name, coalesce(settings -> name, '{}') || coalesce(change -> name, '{}')
          ) from unnest(${groupNames}::text[]) as name
        ),
        updated_at = now()
      from (select ${column}::jsonb as change) as wanted`.execute(db)
  },
})
