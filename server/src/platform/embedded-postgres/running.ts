import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { database, user } from './cluster'
import type { EmbeddedPostgres } from './embedded-postgres'
import { port } from './socket-directory'

/** Returns the home that belongs to a data directory, whether or not it exists. */
async function homeOf(dataDir: string): Promise<string> {
  const notedPath = await readFile(join(dataDir, 'postgres.location'), 'utf8').catch(() => '')
  return notedPath.trim() || join(dataDir, 'postgres')
}

/** Whether a data directory has an embedded database. */
export async function hasDatabase(dataDir: string): Promise<boolean> {
  const cluster = join(await homeOf(dataDir), 'cluster')
  return stat(cluster).then(
    () => true,
    () => false,
  )
}

/** Returns the address of the server that another process runs in `dataDir`; rejects if there is none. */
export async function findRunningServer(dataDir: string): Promise<EmbeddedPostgres['connection']> {
  const home = await homeOf(dataDir)
  // The fifth line of postmaster.pid is the directory of the socket.
  const pidFile = await readFile(join(home, 'cluster/postmaster.pid'), 'utf8')
  const password = await readFile(join(home, 'password'), 'utf8')
  return { host: pidFile.split('\n')[4] ?? '', port, user, password, database }
}
