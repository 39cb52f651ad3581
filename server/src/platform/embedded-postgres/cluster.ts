import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chmod, chown, mkdir, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { StartError } from '../config/config'
import { syncDirectory } from './programs'
import type { ServerHome } from './home'
import { run } from './run'

/** The role that Tollgate connects as, and the database that it owns. */
export const user = 'tollgate'
export const database = 'tollgate'
/**
 * The superuser of an embedded cluster, with the same password. Tollgate does not need it. In a cluster that an earlier
 * version created, `tollgate` is the superuser, which PostgreSQL cannot change, and this role does not exist.
 */
export const superuser = 'postgres'

/**
 * Creates the cluster of a home that has none, and returns the password of its roles. Throws `StartError` for a cluster
 * that is damaged or of another PostgreSQL version, or if creating one fails.
 */
export async function openCluster(home: ServerHome, programs: string): Promise<string> {
  const secret = join(home.path, 'password')
  if (!existsSync(home.cluster)) {
    await createCluster(home, programs, secret)
  } else {
    await checkVersion(home.cluster, await versionOf(programs))
  }
  const password = await readFile(secret, 'utf8').catch(() => '')
  if (password) return password
  throw damaged(home.cluster, `${secret} is missing or unreadable`)
}

/** Creates the error of an unusable cluster; it quotes `why`. */
export const damaged = (cluster: string, why: string) =>
  new StartError(
    `The embedded PostgreSQL cannot use ${cluster}: ${why}. Restore the data directory from a ` +
      'backup, move it away to begin with an empty one, or set DATABASE_URL to a server of your own.',
  )

/** Reads the major version, `18`, as a cluster's PG_VERSION writes it. */
async function versionOf(programs: string): Promise<string> {
  const control = await readFile(join(programs, 'share/postgresql/postgres.bki'), 'utf8')
  return /^# PostgreSQL (\d+)/.exec(control)?.[1] ?? ''
}

async function checkVersion(cluster: string, ours: string): Promise<void> {
  const version = await readFile(join(cluster, 'PG_VERSION'), 'utf8').catch(() => '')
  if (version.trim() === ours) return
  const why = /^\d+$/.test(version.trim())
    ? `it was written by PostgreSQL ${version.trim()}, and this one is ${ours}`
    : 'its PG_VERSION is missing or unreadable'
  throw damaged(cluster, why)
}

/** Creates the cluster in a draft folder: a cluster under its final name is complete and on disk. */
async function createCluster(home: ServerHome, programs: string, secret: string): Promise<void> {
  await removeDrafts(home.path)
  const draft = join(home.path, `draft-${crypto.randomUUID()}`)
  const cluster = join(draft, 'cluster')
  const password = randomBytes(24).toString('base64url')
  await mkdir(draft, { mode: 0o700 })
  // The server's account may be shared: it can read the password only here, and only for a moment.
  await writeFile(join(draft, 'password'), password, { mode: 0o600 })
  if (home.account.isForeign) await giveAway(home, [draft, join(draft, 'password')])

  await initialize({ home, programs, draft }, password)
  await writeFile(join(cluster, 'pg_hba.conf'), 'local all all scram-sha-256\n')
  await rm(join(draft, 'password'))
  await step({ home, programs, draft }, ['initdb', '--sync-only', '-D', cluster, ...syncMethod])

  await writeFile(secret, password, { mode: 0o600, flush: true })
  await chmod(secret, 0o600)
  await rename(cluster, home.cluster)
  await syncDirectory(home.path)
  await rm(draft, { recursive: true, force: true })
}

interface Draft {
  home: ServerHome
  programs: string
  draft: string
}

async function initialize(work: Draft, password: string): Promise<void> {
  const cluster = join(work.draft, 'cluster')
  const options = ['-D', cluster, '-U', superuser, '--pwfile', join(work.draft, 'password')]
  const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin']
  // Not synced during its creation: the whole draft is synced before it gets its name.
  const rest = ['--builtin-locale=C.UTF-8', '--auth=scram-sha-256', '--no-sync']
  await step(work, ['initdb', ...options, ...locale, ...rest])
  // One statement a line. The password is base64url: it has no quote.
  const input = `create role ${user} login password '${password}';
alter database postgres rename to ${database};
alter database ${database} owner to ${user};
`
  await step({ ...work, input }, [
    'postgres',
    '--single',
    '-F',
    '-D',
    cluster,
    '-c',
    'exit_on_error=on',
    // Else an error would repeat the statement, with the password.
    '-c',
    'log_min_error_statement=panic',
    'template1',
  ])
}

/** One call for the file system, which covers the copied programs too; on other systems file by file. */
const syncMethod = process.platform === 'linux' ? ['--sync-method=syncfs'] : []

async function step(work: Draft & { input?: string }, [program = '', ...args]: string[]) {
  const { succeeded, output } = await run({
    command: join(work.programs, 'bin', program),
    args,
    account: work.home.account,
    cwd: work.draft,
    timeoutMs: 120_000,
    ...(work.input !== undefined && { input: work.input }),
  })
  if (succeeded) return
  const line = /^.*(?:error|FATAL|PANIC):.*$/m.exec(output)?.[0] ?? output.trim().split('\n').at(-1)
  throw new StartError(
    `The embedded PostgreSQL could not make its cluster in ${work.home.path} (${program}: ${line}). ` +
      'Remove the cause, or set DATABASE_URL to a server of your own.',
  )
}

async function giveAway({ account }: ServerHome, paths: string[]): Promise<void> {
  for (const path of paths) await chown(path, account.uid, account.gid)
}

/** Removes drafts of a killed start. Its initdb may still be writing; the rest is removed next time. */
async function removeDrafts(home: string): Promise<void> {
  const drafts = (await readdir(home)).filter((name) => name.startsWith('draft-'))
  await Promise.allSettled(drafts.map((name) => rm(join(home, name), { recursive: true })))
}
