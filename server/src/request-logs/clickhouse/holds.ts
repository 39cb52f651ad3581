import { z } from 'zod'
import { ensureExpiry } from './schema'
import { countUnheld, deleteUnheld, exportedTables } from './tables'
import type { ClickHouse } from '../../platform/clickhouse/client'

const Count = z.object({ found: z.coerce.bigint() })

const dayMs = 86_400_000
/** ClickHouse computes expiries with 32 bits: a hundred years would have passed already. */
const unlimitedDays = 7300

interface Expiry {
  /** Accounts and organizations on legal hold. */
  heldIds: readonly string[]
  /** Rows are deleted this number of days after their own. */
  days: number
}

/**
 * Applies the retention: by the expiry of the tables, which no legal hold can narrow down, or while there are holds by
 * deletions of what none keeps. Bodies go first, as logs say which of them are held.
 */
export async function applyExpiry(
  clickHouse: ClickHouse,
  { heldIds, days }: Expiry,
): Promise<void> {
  const hasHolds = heldIds.length > 0
  const { body, log } = exportedTables
  for (const table of [body, log]) {
    await ensureExpiry(clickHouse, table, hasHolds ? unlimitedDays : days)
  }
  if (!hasHolds) return
  const before = new Date((Math.floor(Date.now() / dayMs) - days + 1) * dayMs)
  for (const table of [body, log]) {
    const old = { before, heldIds }
    const [row] = await clickHouse.select(countUnheld(table, old), Count)
    if ((row?.found ?? 0n) > 0n) await clickHouse.execute(deleteUnheld(table, old))
  }
}
