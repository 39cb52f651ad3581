import { afterEach, describe, expect, test } from 'bun:test'
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import {
  chmod,
  cp,
  mkdir,
  mkdtemp,
  readFile,
  readdir,
  rm,
  truncate,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { Client } from 'pg'
import { StartError } from '../config/config'
import { EmbeddedPostgres } from './embedded-postgres'
import { findInstalledPrograms } from './installed-package'
import { eventually } from '../../../testing/eventually'

const packageName = `@embedded-postgres/${process.platform}-${process.arch}`
const isRoot = process.getuid?.() === 0
const cleanups: (() => unknown)[] = []

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
})

/** A directory that goes away with its servers; passable, so that the server's account reaches it. */
async function temporary(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'tollgate-test-'))
  await chmod(path, 0o755)
  cleanups.push(async () => {
    const home = await readFile(join(path, 'postgres.location'), 'utf8').catch(() => '')
    for (const it of [join(path, 'postgres'), home.trim()]) {
      await endServer(it)
      if (it.startsWith('/var/lib/tollgate/')) await rm(it, { recursive: true, force: true })
    }
    await rm(path, { recursive: true, force: true })
  })
  return path
}

/** Ends the server that a killed Tollgate left, and waits for that: its processes create files until then. */
async function endServer(home: string): Promise<void> {
  const pid = await pidOf(home).catch(() => 0)
  const command = () => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
  if (pid <= 1 || !(await command()).includes(home)) return
  process.kill(pid, 'SIGQUIT')
  await eventually(async () => !(await command()).includes(home))
}

const pidOf = async (home: string) =>
  Number((await readFile(join(home, 'cluster/postmaster.pid'), 'utf8')).split('\n')[0])

async function start(dataDir: string, options: Partial<Parameters<typeof begin>[1]> = {}) {
  const server = await begin(dataDir, { log: () => undefined, onExit: () => undefined, ...options })
  cleanups.push(() => server[Symbol.asyncDispose]())
  return server
}
const notInstalled = () => findInstalledPrograms(() => '')

const begin = EmbeddedPostgres.start.bind(EmbeddedPostgres)

async function query(server: EmbeddedPostgres, text: string): Promise<unknown[]> {
  const client = new Client(server.connection)
  // The server may be killed on purpose: then the query rejects, and that is enough.
  client.on('error', () => undefined)
  await client.connect()
  try {
    return (await client.query({ text, rowMode: 'array' })).rows.flat()
  } finally {
    await client.end()
  }
}

async function refusal(promise: Promise<unknown>): Promise<string> {
  const thrown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  expect(thrown).toBeInstanceOf(StartError)
  const message = thrown instanceof StartError ? thrown.message : ''
  expect(message).not.toContain('\n')
  return message
}

/** Another process that starts the server of `dataDir`, says so, and stays. */
async function startElsewhere(dataDir: string) {
  const script = `
    const { EmbeddedPostgres } = await import(${JSON.stringify(join(import.meta.dir, 'embedded-postgres.ts'))})
    try {
      await EmbeddedPostgres.start(${JSON.stringify(dataDir)}, { log() {}, onExit() {} })
      console.log('started')
      setInterval(() => {}, 1000)
    } catch (thrown) { console.log(thrown.message); process.exit(1) }`
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] })
  cleanups.push(() => child.kill('SIGKILL'))
  const exited = new Promise((resolve) => child.once('exit', resolve))
  const [line] = await new Promise<string[]>((resolve) =>
    child.stdout.setEncoding('utf8').once('data', (text: string) => resolve([text.trim()])),
  )
  return { line, kill: () => (child.kill('SIGKILL'), exited) }
}

describe('a data directory', () => {
  test('connects to a responding database, by its socket and its password only', async () => {
    const server = await start(await temporary())
    const settings = `select current_setting('listen_addresses'), current_setting('fsync'),
      current_setting('server_encoding'), current_setting('TimeZone')`
    expect(await query(server, settings)).toEqual(['', 'on', 'UTF8', 'UTC'])
    const stranger = new Client({ ...server.connection, password: 'guessed' })
    await expect(stranger.connect()).rejects.toThrow('password authentication failed')
  })

  test('keeps its rows over a stop and a start', async () => {
    const dataDir = await temporary()
    {
      await using server = await start(dataDir)
      await query(server, 'create table kept as select 1 as one')
    }
    expect(await query(await start(dataDir), 'select one from kept')).toEqual([1])
  })

  test('too deep for a socket has it among the temporary files', async () => {
    const dataDir = join(await temporary(), 'd'.repeat(120))
    await mkdir(dataDir)
    const server = await start(dataDir)
    expect(await query(server, 'select 1')).toEqual([1])
    await server[Symbol.asyncDispose]()
    expect(existsSync(server.connection.host)).toBe(false)
  })

  test.skipIf(!isRoot)('closed to others (needs root) has its home elsewhere', async () => {
    const parent = await temporary()
    await chmod(parent, 0o700)
    const lines: string[] = []
    {
      await using server = await start(parent, { log: (line) => lines.push(line) })
      await query(server, 'create table kept as select 1 as one')
    }
    expect(lines).toEqual([expect.stringContaining('/var/lib/tollgate/')])
    expect(await query(await start(parent), 'select one from kept')).toEqual([1])
  })

  test('is rejected when its home elsewhere was deleted', async () => {
    const dataDir = await temporary()
    await writeFile(join(dataDir, 'postgres.location'), '/nonexistent/home\n')
    expect(await refusal(start(dataDir))).toContain('/nonexistent/home')
  })

  test.skipIf(isRoot)('is rejected when it is not writable (needs a plain user)', async () => {
    const dataDir = await temporary()
    await chmod(dataDir, 0o500)
    expect(await refusal(start(dataDir))).toContain(dataDir)
  })
})

describe('after a crash', () => {
  test('a server whose Tollgate was killed is taken over', async () => {
    const dataDir = await temporary()
    const other = await startElsewhere(dataDir)
    expect(other.line).toBe('started')
    const orphan = await pidOf(join(dataDir, 'postgres'))
    await other.kill()
    expect(process.kill(orphan, 0)).toBe(true)

    const lines: string[] = []
    const server = await start(dataDir, { log: (line) => lines.push(line) })
    expect(lines.join()).toContain(`process ${orphan}`)
    expect(await query(server, 'select 1')).toEqual([1])
    expect(server.pid).not.toBe(orphan)
  })

  test.each([
    ['of no process', () => 4_194_000],
    ['of another process', () => process.pid],
  ])('a stale postmaster.pid %s does not matter', async (_name, pid) => {
    const dataDir = await temporary()
    await (await start(dataDir))[Symbol.asyncDispose]()
    const file = join(dataDir, 'postgres/cluster/postmaster.pid')
    await writeFile(
      file,
      `${pid()}\n${join(dataDir, 'postgres/cluster')}\n1\n5432\n\n\n0 0\nready\n`,
    )
    expect(await query(await start(dataDir), 'select 1')).toEqual([1])
  })

  test('an initdb that was cut short is begun anew', async () => {
    const dataDir = await temporary()
    await mkdir(join(dataDir, 'postgres/draft-1/cluster'), { recursive: true })
    await mkdir(join(dataDir, 'postgres/server-18.new-1'))
    await chmod(join(dataDir, 'postgres'), 0o711)
    expect(await query(await start(dataDir), 'select 1')).toEqual([1])
    expect(existsSync(join(dataDir, 'postgres/draft-1'))).toBe(false)
  })

  test('a server that is killed is started again', async () => {
    const server = await start(await temporary())
    const { pid = 0 } = server
    process.kill(pid, 'SIGKILL')
    await eventually(async () => {
      const answer = await query(server, 'select 1').catch(() => [])
      return answer.length > 0 && server.pid !== pid
    })
    expect(await query(server, 'select 1')).toEqual([1])
  })

  test('a server that cannot be started again is given up after five tries, with its reason', async () => {
    const dataDir = await temporary()
    const { promise, resolve } = Promise.withResolvers<string>()
    let tries = 0
    const log = (line: string) => void (tries += Number(line.includes('starting it again')))
    const server = await start(dataDir, { log, onExit: resolve })
    await truncate(join(dataDir, 'postgres/cluster/global/pg_control'))
    process.kill(server.pid ?? 0, 'SIGKILL')
    expect(await promise).toContain('pg_control')
    expect(tries).toBe(5)
    // What it waits between them, and the tries themselves.
  })
})

describe('one at a time', () => {
  test('rejects a second Tollgate, and names the running one', async () => {
    const dataDir = await temporary()
    await start(dataDir)
    const message = await refusal(start(dataDir))
    expect(message).toContain(dataDir)
    expect(message).toContain(`process ${process.pid}`)
  })

  test('one of two concurrent starts wins', async () => {
    const dataDir = await temporary()
    const { line: first } = await startElsewhere(dataDir).then((it) => it.kill().then(() => it))
    expect(first).toBe('started')
    const both = await Promise.all([startElsewhere(dataDir), startElsewhere(dataDir)])
    const lines = both.map(({ line }) => line)
    expect(lines).toContain('started')
    expect(lines).toContainEqual(expect.stringContaining('in use by another Tollgate'))
  })
})

describe('damage is repaired or reported in one line', () => {
  const damages: [string, (cluster: string) => Promise<unknown>, string][] = [
    ['pg_control cut off', (it) => truncate(join(it, 'global/pg_control')), 'pg_control'],
    [
      'pg_control missing',
      (it) => rm(join(it, 'global/pg_control')),
      'could not find the database',
    ],
    ['PG_VERSION of another', (it) => writeFile(join(it, 'PG_VERSION'), '17\n'), 'PostgreSQL 17'],
    ['PG_VERSION missing', (it) => rm(join(it, 'PG_VERSION')), 'PG_VERSION'],
    ['WAL missing', (it) => rm(join(it, 'pg_wal'), { recursive: true }), 'pg_wal'],
  ]
  test.each(damages)('%s', async (_name, damage, words) => {
    const dataDir = await temporary()
    await (await start(dataDir))[Symbol.asyncDispose]()
    await damage(join(dataDir, 'postgres/cluster'))
    const message = await refusal(start(dataDir))
    expect(message).toContain(words)
    expect(message).toContain('DATABASE_URL')
  })

  test('programs without their links, as npm leaves them without install scripts, run', async () => {
    const dataDir = await temporary()
    const folder = join(dataDir, 'package')
    const installed = join(fileURLToPath(import.meta.resolve(packageName)), '../..')
    await cp(installed, folder, { recursive: true, verbatimSymlinks: true })
    const names = await readdir(join(folder, 'native/lib'), { withFileTypes: true })
    const links = names.filter((it) => it.isSymbolicLink())
    for (const { name } of links) await rm(join(folder, 'native/lib', name))
    for (const it of ['native', 'native/lib', '']) {
      await chmod(join(folder, it), 0o555)
      cleanups.push(() => chmod(join(folder, it), 0o755))
    }
    const resolve = () => pathToFileURL(join(folder, 'dist/index.js')).href
    const programs = () => findInstalledPrograms(resolve)
    expect(await query(await start(dataDir, { programs }), 'select 1')).toEqual([1])
  })

  test('a copy of the programs that lost its bytes is made again', async () => {
    const dataDir = await temporary()
    await (await start(dataDir))[Symbol.asyncDispose]()
    const home = join(dataDir, 'postgres')
    const programs = (await readdir(home)).find((name) => name.startsWith('server-')) ?? ''
    // The bytes may be shared with the installed package's.
    await rm(join(home, programs, 'bin/postgres'))
    await writeFile(join(home, programs, 'bin/postgres'), '')
    expect(await query(await start(dataDir), 'select 1')).toEqual([1])
  })

  test('the package is not installed', async () => {
    const message = await refusal(start(await temporary(), { programs: notInstalled }))
    expect(message).toContain('npm ci')
    expect(message).toContain('DATABASE_URL')
  })
})
