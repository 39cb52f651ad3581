import { failure, fine, warning, formatFinding, type DoctorFinding } from './finding'
import type { Config } from '../../platform/config/config'
import { createClickHouse } from '../../server/log-store'
import { readDefinition } from '../../request-logs/clickhouse/schema'
import { exportedTables } from '../../request-logs/clickhouse/tables'

/** Checks the store of request logs that PostgreSQL no longer has. */
export async function lookAtLogStore({ clickHouse }: Config): Promise<DoctorFinding> {
  const { address } = clickHouse
  if (!address) return fine('log store', 'not set up: request logs stay in PostgreSQL')
  using client = createClickHouse(address)
  try {
    const definitions = await Promise.all(
      Object.values(exportedTables).map((table) => readDefinition(client, table)),
    )
    if (definitions.every((definition) => definition?.includes('ReplacingMergeTree'))) {
      return fine('log store', `ClickHouse, database ${address.database}`)
    }
    if (definitions.some((definition) => definition !== undefined)) {
      const what =
        'a table in ClickHouse is no ReplacingMergeTree: logs that are sent twice count twice'
      return failure('log store', what, 'Create it as docs/operate/log-store.md has it.')
    }
    const what = `ClickHouse has no tables in the database ${address.database} yet`
    return warning('log store', what, 'A server that runs creates them within seconds.')
  } catch (thrown) {
    const fix = 'Check host, user, password and database of CLICKHOUSE_URL, and that it runs.'
    const { cause } = thrown instanceof Error ? thrown : {}
    const why = cause === undefined ? '' : `: ${formatFinding(cause)}`
    return failure('log store', `${formatFinding(thrown)}${why}`, fix)
  }
}
