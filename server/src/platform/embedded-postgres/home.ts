import { chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { StartError } from '../config/config'
import { type ServerAccount, canEnter } from './account'

/** The folder of the embedded PostgreSQL: programs, cluster, password, log, usually its socket. */
export interface ServerHome {
  path: string
  /** PostgreSQL's own data directory, which exists only once it is complete. */
  cluster: string
  account: ServerAccount
}

const otherHome = '/var/lib/tollgate'

/**
 * Finds or creates the home that belongs to `dataDir`: a folder in it, or, if root started this process and the
 * server's account cannot enter that folder, one under /var/lib/tollgate with a note of its path in `dataDir`. Throws
 * `StartError` if an earlier home is gone or belongs to another account.
 */
export async function openHome(
  dataDir: string,
  account: ServerAccount,
  log: (line: string) => void,
): Promise<ServerHome> {
  const note = join(dataDir, 'postgres.location')
  const notedPath = await readFile(note, 'utf8').catch(() => '')
  if (notedPath.trim() !== '') return ownedHome(await assertExists(notedPath.trim(), note), account)

  const inside = join(dataDir, 'postgres')
  const isThere = Boolean(await modeOf(inside))
  if (isThere || (await canEnter(account, dataDir))) {
    if (!isThere) await makeHome(inside, account)
    const home = await ownedHome(inside, account)
    if (!(await canEnter(home.account, inside))) throw closed(inside, home.account)
    return home
  }
  await mkdir(otherHome, { recursive: true, mode: 0o711 })
  if (!(await canEnter(account, otherHome))) throw closed(otherHome, account)
  const path = join(otherHome, crypto.randomUUID())
  await makeHome(path, account)
  await writeFile(note, `${path}\n`, { flag: 'wx', flush: true })
  log(`The database is kept in ${path}: user id ${account.uid} cannot enter ${dataDir}.`)
  return ownedHome(path, account)
}

async function assertExists(path: string, note: string): Promise<string> {
  if (await modeOf(path)) return path
  throw new StartError(
    `The database was kept in ${path}, as ${note} says, and that is gone. Restore it, delete ` +
      `${note} to begin with an empty database, or set DATABASE_URL to a server of your own.`,
  )
}

/** Only we may list it; the server's account may traverse it. The umask does not change that. */
async function makeHome(path: string, account: ServerAccount): Promise<void> {
  await mkdir(path)
  await chmod(path, account.isForeign ? 0o711 : 0o700)
}

/** A cluster keeps its owner: root may continue with a plain user's cluster, but not the reverse. */
async function ownedHome(path: string, account: ServerAccount): Promise<ServerHome> {
  const cluster = join(path, 'cluster')
  const owner = await modeOf(cluster)
  if (!owner || owner.uid === account.uid) return { path, cluster, account }
  if (account.isForeign && owner.uid !== 0) {
    return { path, cluster, account: { uid: owner.uid, gid: owner.gid, isForeign: true } }
  }
  throw new StartError(
    `The database in ${cluster} belongs to user id ${owner.uid}, and this is ${account.uid}. Start ` +
      'Tollgate as the user who started it first, or set DATA_DIR to another directory.',
  )
}

const closed = (path: string, account: ServerAccount) =>
  new StartError(
    `User id ${account.uid}, which runs the embedded PostgreSQL, cannot enter ${path}. Make the ` +
      'directories above it passable (chmod o+x), or set DATABASE_URL to a server of your own.',
  )

/** Undefined only if the path does not exist. */
async function modeOf(path: string) {
  try {
    return await stat(path)
  } catch (thrown) {
    if (thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT') return undefined
    throw thrown
  }
}
