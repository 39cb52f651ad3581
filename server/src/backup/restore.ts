import { rename, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import { fileOf, keyFiles } from './contents'
import { clear, load, lookAtTarget } from './load'
import { entriesIn, verify, type Verified } from './read'
import { StartError } from '../config'
import { migrationNames } from '../db/migrate'
import type { Session } from '../db/session'

export interface Restoring {
  /** Whether what is in the database may be dropped. */
  isForced: boolean
  onTable: (table: string, rows: number) => void
  /** Called before anything of it counts; whatever it throws undoes all. */
  beforeCommit: () => Promise<void>
}

/** Reads all of a backup, and refuses one that this version cannot take. Throws `StartError`. */
export async function openBackup(path: string): Promise<Verified> {
  const backup = await verify(path)
  const { migrations, version } = backup.contents
  const unknown = migrations.find((name) => !migrationNames.includes(name))
  if (unknown === undefined) return backup
  throw new StartError(
    `${path} was made by Tollgate ${version}, which is newer than this: it has ${unknown}. Use that version.`,
  )
}

/**
 * Puts a backup in the place of what the database has, in one transaction: all of it or nothing. Leases of
 * its time are ended, so are sessions. Throws `StartError`.
 */
export async function restore(
  session: Session,
  backup: Verified,
  { isForced, onTable, beforeCommit }: Restoring,
): Promise<void> {
  await assertAlone(session)
  const { isEmpty, isOurs } = await lookAtTarget(session)
  if (!isEmpty && !isOurs) {
    throw new StartError('The database has tables that are not of Tollgate. Name an empty one.')
  }
  if (!isEmpty && !isForced) {
    throw new StartError(
      'The database is not empty. Name another one, or say --force: all that it has is dropped then.',
    )
  }
  await session.client.query('begin')
  try {
    if (!isEmpty) await clear(session)
    await load(session, backup, onTable)
    await beginAnew(session, backup)
    await beforeCommit()
    await session.client.query('commit')
  } catch (thrown) {
    await session.client.query('rollback').catch(() => undefined)
    throw thrown
  }
  await session.client.query('analyze')
}

/** A server that runs would go on with what it remembers. */
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

/** What belonged to the processes of then: nobody spends of their leases, nobody is signed in. */
async function beginAnew({ query }: Session, { contents }: Verified): Promise<void> {
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
  await sql`delete from node`.execute(query)
  await sql`delete from auth_session`.execute(query)
  await sql`delete from auth_verification`.execute(query)
  // It counts transactions of the server that the backup is from: all is looked at once.
  await sql`
    update audit set ran_at = '-infinity', seen_xid = null, entry_id = 0, earlier_entry_id = 0,
      round_began_at = '-infinity', cursor = null`.execute(query)
  await sql`
    insert into restored_backup (id, made_at, events_since)
    select ${crypto.randomUUID()}, ${contents.made_at}::timestamptz, kept_since from audit
  `.execute(query)
}

/**
 * Writes the keys of a backup to a data directory; those that are there stay. Resolves with the names of
 * what it wrote.
 */
export async function restoreKeys(path: string, dataDir: string): Promise<string[]> {
  const written: string[] = []
  for await (const { name, bytes } of entriesIn(path)) {
    const file = keyFiles.find((one) => one === fileOf(name))
    if (file === undefined) continue
    const target = join(dataDir, file)
    if (await stat(target).catch(() => undefined)) continue
    await writeFile(`${target}.part`, bytes, { mode: 0o600, flush: true })
    await rename(`${target}.part`, target)
    written.push(file)
  }
  return written
}
