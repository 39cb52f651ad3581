import { rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import { fileOf, keyFiles } from './contents'
import { dropTables, summarizeNames, load, lookAtTarget, type LoadReport } from './load'
import { readEntries, verify, type VerifiedBackup } from './read'
import { findTables } from './schema-of'
import { StartError } from '../../platform/config/config'
import { migrationNames } from '../../platform/db/migrate'
import type { Session } from '../../platform/db/session'

export interface Restoring extends LoadReport {
  /** Whether the existing contents of the database may be dropped. */
  isForced: boolean
  /** Called before the commit; an error that it throws rolls everything back. */
  beforeCommit: () => Promise<void>
}

/** The server did not answer whether the restore was committed. */
export class CommitUnanswered extends Error {
  override readonly name = 'CommitUnanswered'
}

/** Reads a whole backup, and rejects one that this version cannot restore. Throws `StartError`. */
export async function openBackup(path: string): Promise<VerifiedBackup> {
  const backup = await verify(path)
  const { migrations, version } = backup.contents
  const unknown = migrations.find((name) => !migrationNames.includes(name))
  if (unknown === undefined) return backup
  throw new StartError(
    `${path} was made by Tollgate ${version}, which is newer than this: it has ${unknown}. Use that version.`,
  )
}

/**
 * Replaces the contents of the database by a backup, in one transaction: all of it or nothing. Ends the leases and the
 * sessions that the backup has. Throws `StartError`, and `CommitUnanswered`.
 */
export async function restore(
  session: Session,
  backup: VerifiedBackup,
  { isForced, beforeCommit, ...report }: Restoring,
): Promise<void> {
  await assertAlone(session)
  const { all, isEmpty, isOurs } = await lookAtTarget(session)
  if (!isEmpty && !isOurs) {
    throw new StartError(
      `The database has objects of other applications: ${summarizeNames(all)}. Name an empty one.`,
    )
  }
  if (!isEmpty && !isForced) {
    throw new StartError(
      'The database is not empty. Name another one, or say --force: all that it has is dropped then.',
    )
  }
  await session.client.query('begin')
  try {
    if (!isEmpty) await dropTables(session, all)
    await load(session, backup, report)
    await beginAnew(session, backup)
    await beforeCommit()
  } catch (thrown) {
    await session.client.query('rollback').catch(() => undefined)
    throw thrown
  }
  await session.client.query('commit').catch((cause: unknown) => {
    throw new CommitUnanswered(cause instanceof Error ? cause.message : String(cause), { cause })
  })
}

/** Updates the planner's statistics of our tables only, as other tables may belong to other database users. */
export async function analyzeTables({ query }: Session): Promise<void> {
  const tables = (await findTables(query)).map(({ name }) => sql.table(name))
  await sql`analyze ${sql.join(tables)}`.execute(query)
}

/** A running server would keep using its cached rows. */
async function assertAlone({ query }: Session): Promise<void> {
  const { rows } = await sql<{ others: bigint }>`
    select count(*) as others from pg_stat_activity
    where datname = current_database() and application_name = 'tollgate'
      and pid <> pg_backend_pid()`.execute(query)
  if (rows[0]?.others === 0n) return
  throw new StartError(
    'A Tollgate is connected to this database. Stop all of them, then try again.',
  )
}

/** Ends the state of the processes of that time: their leases cannot be spent, and their sessions are closed. */
async function beginAnew({ query }: Session, { contents }: VerifiedBackup): Promise<void> {
  await sql`
    with ended as (
      update credit_lease set state = 'swept' where state = 'active'
      returning account_id, amount - spent as unspent
    )
    update credit_account set leased = leased - sums.unspent
    from (select account_id, sum(unspent)::bigint as unspent from ended group by 1) as sums
    where credit_account.id = sums.account_id`.execute(query)
  await sql`update credit_account set recalled_at = null, recalled_by = null`.execute(query)
  await sql`delete from credit_held`.execute(query)
  await sql`delete from credit_demand`.execute(query)
  await sql`delete from limit_share`.execute(query)
  await sql`delete from node`.execute(query)
  await sql`delete from auth_session`.execute(query)
  await sql`delete from auth_verification`.execute(query)
  // The ids of transactions are those of the server that the backup is from: the audit starts over.
  await sql`
    update audit set ran_at = '-infinity', seen_xid = null, entry_id = 0, earlier_entry_id = 0,
      round_began_at = '-infinity', cursor = null`.execute(query)
  await sql`
    insert into restored_backup (id, made_at, events_since)
    select ${crypto.randomUUID()}, ${contents.made_at}::timestamptz, kept_since from audit
  `.execute(query)
}

export type Keys = Map<(typeof keyFiles)[number], Buffer>

/** Returns the keys that a backup contains. */
export async function readBackupKeys({ path, contents }: VerifiedBackup): Promise<Keys> {
  const keys: Keys = new Map()
  const requested = keyFiles.filter((name) => contents.files.includes(name))
  if (requested.length === 0) return keys
  for await (const { name, bytes } of readEntries(path)) {
    const file = requested.find((one) => one === fileOf(name))
    if (file !== undefined) keys.set(file, bytes)
    if (keys.size === requested.length) break
  }
  return keys
}

/** Writes keys to a data directory, each one completely or not at all; if one fails, removes all of them. */
export async function writeKeys(keys: Keys, dataDir: string): Promise<void> {
  const writtenPaths: string[] = []
  try {
    for (const [name, bytes] of keys) {
      const path = join(dataDir, name)
      writtenPaths.push(`${path}.part`)
      await writeFile(`${path}.part`, bytes, { mode: 0o600, flush: true })
      await rename(`${path}.part`, path)
      writtenPaths.push(path)
    }
  } catch (thrown) {
    for (const path of writtenPaths) await rm(path, { force: true })
    throw thrown
  }
}
