import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getServerAccount } from '../../server/src/platform/embedded-postgres/account'
import { identity } from '../../server/src/platform/embedded-postgres/run'
import type { PostgresServer } from './postgres-server'
import { freePort } from './free-port'
import { askDatabase, untilAnswers } from './until-answers'

/** Debian puts it where only root's PATH leads. */
export const pgbouncer = Bun.which('pgbouncer', {
  PATH: `${process.env['PATH'] ?? ''}:/usr/sbin:/usr/local/sbin`,
})

export interface Pooler extends AsyncDisposable {
  /** A `DATABASE_URL`: the server's, through the pooler. */
  url: string
}

export interface PoolerOptions {
  mode: 'session' | 'transaction'
  /** Parameters of a connection that it drops; it rejects a connection that has another. */
  ignored: readonly string[]
}

/** Starts PgBouncer before the database `tollgate` of a server. */
export async function startPgbouncer(
  server: PostgresServer,
  { mode, ignored }: PoolerOptions,
): Promise<Pooler> {
  const home = await mkdtemp(join(tmpdir(), 'tollgate-pgbouncer-'))
  await chmod(home, 0o755)
  const port = freePort()
  const users = join(home, 'users.txt')
  await writeFile(users, '"tollgate" ""\n')
  const lines = {
    listen_addr: '127.0.0.1',
    listen_port: port,
    unix_socket_dir: '',
    auth_type: 'trust',
    auth_file: users,
    pool_mode: mode,
    ignore_startup_parameters: ignored.join(','),
  }
  const settings = Object.entries(lines).map(([name, value]) => `${name} = ${value}`)
  const target = `tollgate = host=127.0.0.1 port=${server.port}`
  const file = join(home, 'pgbouncer.ini')
  await writeFile(file, ['[databases]', target, '[pgbouncer]', ...settings, ''].join('\n'))
  // It refuses to run as root.
  const child = Bun.spawn([pgbouncer ?? '', file], {
    ...identity(await getServerAccount()),
    cwd: '/',
    stdout: 'ignore',
    stderr: 'ignore',
  })
  const url = Object.assign(new URL(server.url), { port: String(port) }).href
  await untilAnswers(child, 'PgBouncer', () => askDatabase(url))
  return {
    url,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM')
      await child.exited
      await rm(home, { recursive: true, force: true })
    },
  }
}
