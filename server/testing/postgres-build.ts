import { existsSync } from 'node:fs'
import { chown, mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Client } from 'pg'
import { database, openCluster, superuser, user } from '../src/platform/embedded-postgres/cluster'
import type { ServerHome } from '../src/platform/embedded-postgres/home'
import { findInstalledPrograms } from '../src/platform/embedded-postgres/installed-package'
import { installPrograms } from '../src/platform/embedded-postgres/programs'
import { run } from '../src/platform/embedded-postgres/run'

/** A PostgreSQL that tests can start. */
export interface PostgresBuild {
  /** Changes with its version. */
  name: string
  /** Returns the folder that has its `bin`; puts it into `home` where it is in none that its account can enter. */
  install: (home: string) => Promise<string>
  /** Makes the cluster of a home that has none, and the file `password` beside it. */
  create: (home: ServerHome, programs: string) => Promise<void>
  /** Makes the ordinary role and its database in a server that runs for the first time; `admin` is its superuser. */
  prepare: (admin: Client, password: string) => Promise<void>
}

/** Returns the PostgreSQL of npm's package, which Tollgate embeds. */
export async function embeddedBuild(): Promise<PostgresBuild> {
  const programs = await findInstalledPrograms()
  return {
    name: programs.name,
    install: (home) => installPrograms(home, programs),
    create: async (home, folder) => void (await openCluster(home, folder)),
    prepare: () => Promise.resolve(),
  }
}

const systemRoot = '/usr/lib/postgresql'

/** Returns the folder of the system's newest PostgreSQL; undefined if there is none. */
export async function findSystemPostgres(): Promise<string | undefined> {
  const versions = existsSync(systemRoot) ? await readdir(systemRoot) : []
  const [newest] = versions.toSorted((a, b) => Number(b) - Number(a))
  return newest && join(systemRoot, newest)
}

/** Returns the system's newest PostgreSQL. Throws if there is none. */
export async function systemBuild(): Promise<PostgresBuild> {
  const folder = await findSystemPostgres()
  if (!folder) throw new Error(`there is no PostgreSQL in ${systemRoot}`)
  return {
    name: `system-${folder.slice(systemRoot.length + 1)}`,
    install: () => Promise.resolve(folder),
    create: createSystemCluster,
    async prepare(admin, password) {
      await admin.query(`create role ${user} login password '${password}'`)
      await admin.query(`create database ${database} owner ${user}`)
    },
  }
}

async function createSystemCluster(home: ServerHome, programs: string): Promise<void> {
  const password = join(home.path, 'password')
  await writeFile(password, crypto.randomUUID(), { mode: 0o600 })
  await mkdir(home.cluster, { mode: 0o700 })
  const { isForeign, uid, gid } = home.account
  if (isForeign) for (const path of [password, home.cluster]) await chown(path, uid, gid)
  const names = ['-D', home.cluster, '-U', superuser, '--pwfile', password]
  const rest = ['-A', 'scram-sha-256', '-E', 'UTF8', '--locale=C.UTF-8', '--no-sync']
  const { succeeded, output } = await run({
    command: join(programs, 'bin/initdb'),
    args: [...names, ...rest],
    account: home.account,
    cwd: home.path,
    timeoutMs: 120_000,
  })
  if (!succeeded) throw new Error(`initdb failed:\n${output}`)
}
