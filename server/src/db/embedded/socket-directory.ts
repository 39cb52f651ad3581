import { createHash } from 'node:crypto'
import { chmod, chown, lstat, mkdir, rmdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { StartError } from '../../config'
import { canEnter } from './account'
import type { ServerHome } from './home'

/** The port is only a part of the socket's name: nothing listens on TCP. */
export const port = 5432

/** Of `sun_path`, without its final zero. */
const limitBytes = process.platform === 'linux' ? 107 : 103

/**
 * The directory of the server's socket, mode 0700 and the server's own: in the home, or, where that
 * makes the path of the socket too long for the kernel, a short one among the temporary files.
 */
export async function openSocketDirectory({ path, account }: ServerHome): Promise<string> {
  // One home, one name: what a crash left is used again instead of piling up.
  const digest = createHash('sha256').update(`${account.uid}:${path}`).digest('hex').slice(0, 16)
  const short = `tollgate-${digest}`
  for (const directory of [join(path, 'socket'), join(tmpdir(), short), join('/tmp', short)]) {
    if (Buffer.byteLength(join(directory, `.s.PGSQL.${port}`)) > limitBytes) continue
    if (!(await canEnter(account, join(directory, '..')))) continue
    await mkdir(directory, { mode: 0o700 }).catch(() => undefined)
    // Among the temporary files anybody can have made it: a link or another's directory is refused.
    const found = await lstat(directory)
    if (!found.isDirectory()) continue
    const isReady = found.uid === account.uid && (found.mode & 0o777) === 0o700
    if (isReady) return directory
    // Only what is ours is changed: in a sticky directory nobody else can put a link in its place.
    if (found.uid !== process.getuid?.()) continue
    await chmod(directory, 0o700)
    if (account.foreign) await chown(directory, account.uid, account.gid)
    return directory
  }
  throw new StartError(
    `There is no directory for the socket of the embedded PostgreSQL: ${path} is too long and ` +
      `${tmpdir()} cannot be used. Set a shorter DATA_DIR, or DATABASE_URL to a server of your own.`,
  )
}

/** Removes the directory of a socket if it is among the temporary files. */
export async function closeSocketDirectory({ path }: ServerHome, directory: string): Promise<void> {
  // Something else in it or gone already: both may stay as they are.
  if (directory !== join(path, 'socket')) await rmdir(directory).catch(() => undefined)
}
