import { findAddress } from './stores'
import type { Config } from '../../platform/config/config'
import { Database } from '../../platform/db/database'

const statementMs = 10_000

/** The connections in the database that may serve. */
export interface StoredConnections {
  /** Providers of the connections of the platform, each once, sorted. */
  platform: readonly string[]
  /** The number of those of customers. */
  owned: number
}

/** Reads the stored connections; undefined where there is no database yet, or it cannot be read now. */
export async function readStoredConnections(
  config: Config,
): Promise<StoredConnections | undefined> {
  const address = await findAddress(config)
  if ('state' in address) return undefined
  await using database = new Database(address, {
    poolSize: 1,
    statementMs,
    onError: () => undefined,
  })
  try {
    const rows = await database.query
      .selectFrom('connection')
      .select(['provider', 'scope'])
      .where('status', '!=', 'inactive')
      .execute()
    const platform = rows.filter(({ scope }) => scope === 'platform')
    return {
      platform: [...new Set(platform.map(({ provider }) => provider))].toSorted(),
      owned: rows.length - platform.length,
    }
  } catch {
    // `lookAtDatabase` reports why.
    return undefined
  }
}
