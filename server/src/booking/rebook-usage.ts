import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import type { Logger } from 'pino'
import { book, toSettledAttempt, type BookingStorage } from './book-usage'
import { readRecord } from '../ledger/charge'
import { filesOf, readSettled } from '../journal/segment'

const maxBatch = 500

interface Restored {
  id: string
  made_at: Date
  /** ISO 8601 in UTC, or empty for all. */
  since: string
}

/**
 * Books the usage in this node's journal once for each backup that the database was restored from, including usage
 * that was booked before the restore. Events that the backup contains are skipped. Usage from before the days that the
 * backup covers is left alone: nothing shows whether it was booked.
 */
export async function rebook({
  storage,
  log,
}: {
  storage: BookingStorage
  log: Logger
}): Promise<void> {
  const { database, dataDir } = storage
  const { rows } = await sql<Restored>`
    select id, made_at,
      case when isfinite(events_since)
        then to_char(events_since at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') else ''
      end as since
    from restored_backup order by restored_at desc limit 1
  `.execute(database.query)
  const [restored] = rows
  const path = join(dataDir, 'restored')
  if (!restored || (await readMark(path)) === restored.id) return
  const summary = { backup: restored.made_at, found: 0 }
  for (const file of filesOf(dataDir)) {
    const bodies = [...readSettled(await readFile(file))].filter(
      (body) => startOf(body) >= restored.since,
    )
    summary.found += bodies.length
    for (let at = 0; at < bodies.length; at += maxBatch) {
      const rows = bodies.slice(at, at + maxBatch).map((body) => ({ seq: 0, body }))
      await book(rows.map(toSettledAttempt), { storage, log })
    }
  }
  log.info(summary, 'the database was restored: usage that it lacked was booked from the journal')
  await writeFile(`${path}.part`, `${restored.id}\n`, { mode: 0o600, flush: true })
  await rename(`${path}.part`, path)
}

/** Returns the id of the backup whose usage was booked last; empty if there was none. */
const readMark = (path: string) =>
  readFile(path, 'utf8').then(
    (text) => text.trim(),
    () => '',
  )

/** ISO 8601 in UTC sorts as text. */
function startOf(body: string): string {
  const [record = body] = body.split('\t')
  return readRecord(record).charge.startedAt
}
