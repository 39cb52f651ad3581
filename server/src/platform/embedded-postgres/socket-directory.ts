import { createHash } from 'node:crypto'
import { chmod, chown, lstat, mkdir, rmdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { StartError } from '../config/config'
import { canEnter } from './account'
import type { ServerHome } from './home'

/** The port is only a part of the socket's name: the server does not listen on TCP. */
export const port = 5432

/** The limit of `sun_path`, without its final zero. */
const limitBytes = process.platform === 'linux' ? 107 : 103

/**
 * Returns the directory of the server's socket, with mode 0700 and owned by the server's account: in the home, or, if
 * that makes the socket's path too long for the kernel, a short one among the temporary files.
 */
export async function openSocketDirectory({ path, account }: ServerHome): Promise<string> {
  // One name for each home: the directory that a crash left is reused instead of piling up.
  const digest = createHash('sha256').update(`${account.uid}:${path}`).digest('hex').slice(0, 16)
  const short = `tollgate-${digest}`
  for (const directory of [join(path, 'socket'), join(tmpdir(), short), join('/tmp', short)]) {
    if (Buffer.byteLength(join(directory, `.s.PGSQL.${port}`)) > limitBytes) continue
    if (!(await canEnter(account, join(directory, '..')))) continue
    await mkdir(directory, { mode: 0o700 }).catch(() => undefined)
    // Any user can create files in the temporary directory: a link or another user's directory is rejected.
    const foundDirectory = await lstat(directory)
    if (!foundDirectory.isDirectory()) continue
    const isReady = foundDirectory.uid === account.uid && (foundDirectory.mode & 0o777) === 0o700
    if (isReady) return directory
    // Only our own directory is changed: in a sticky directory no other user can replace it by a link.
    if (foundDirectory.uid !== process.getuid?.()) continue
    await chmod(directory, 0o700)
    if (account.isForeign) await chown(directory, account.uid, account.gid)
    return directory
  }
  throw new StartError(
    `There is no directory for the socket of the embedded PostgreSQL: ${path} is too long and ` +
      `${tmpdir()} cannot be used. Set a shorter DATA_DIR, or DATABASE_URL to a server of your own.`,
  )
}

/** Removes the directory of a socket if it is among the temporary files. */
export async function closeSocketDirectory({ path }: ServerHome, directory: string): Promise<void> {
  // It may have other files in it, or be gone already: both are fine.
  if (directory !== join(path, 'socket')) await rmdir(directory).catch(() => undefined)
}
