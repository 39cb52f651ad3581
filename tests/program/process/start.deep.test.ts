import { afterEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { launch, postgresOf } from './launch'
import { databaseUrl, openAdmin } from '../../harness/database'
import { internalUrl } from '../../harness/scrape'
import { newDataDir, startGateway } from '../../harness/server'
import { eventually, WaitTimeoutError } from '../../../server/testing/eventually'
import { recordTimeFigure } from '../../../server/testing/figures'

// A busy machine takes long to start several.
setDefaultTimeout(120_000)

const directories: string[] = []
afterEach(async () => {
  for (const path of directories.splice(0)) await rm(path, { recursive: true, force: true })
})

async function directory(state?: 'started'): Promise<string> {
  const path = await newDataDir(state)
  directories.push(path)
  return path
}

/** Waits for the end; one that starts after all is killed, and must not hold the test up. */
async function exitCodeOf(started: ReturnType<typeof launch>) {
  const state: { code?: number } = {}
  void started.exited.then((code) => (state.code = code))
  try {
    await eventually(() => state.code !== undefined, 50_000)
  } catch {
    started.kill('SIGKILL')
    throw new WaitTimeoutError(`its end, so far:\n${started.out()}${started.err()}`, 50_000)
  }
  return state.code
}

/** It ends with a code of failure and says why in one line, as an operator reads it. */
async function expectRefusal(environment: Record<string, string>, words: RegExp) {
  const started = launch(environment)
  const name = `a refused start: ${words.source}`
  const code = await recordTimeFigure(name, { atMost: 10_000 }, () => exitCodeOf(started))
  expect({ code, err: started.err() }).toEqual({ code: 1, err: expect.stringMatching(words) })
  expect(started.err()).toMatch(/^tollgate: [^\n]+\n$/)
}

/** It does not start beside a Tollgate that has the port that this variable names. */
async function expectTaken(name: 'PORT' | 'METRICS_PORT', port: string) {
  const dataDir = await directory('started')
  // It makes a database first, which takes its time on a busy machine.
  const started = launch({ DATA_DIR: dataDir, [name]: port })
  const code = await exitCodeOf(started)
  expect({ code, err: started.err() }).toEqual({
    code: 1,
    err: expect.stringMatching(new RegExp(`^tollgate: [^\\n]*in use.*${name}[^\\n]*\\n$`)),
  })
  expect(postgresOf(dataDir)).toEqual([])
}

describe('L05: does not start, and gives the reason in one line', () => {
  const key = btoa('0123456789abcdef'.repeat(2))
  const nowhere = 'postgres://nobody:pw-canary@127.0.0.1:9/none'
  test.each<[Record<string, string>, RegExp]>([
    [{ PORT: 'http' }, /PORT/],
    [{ PORT: '65536' }, /PORT/],
    [{ BASE_URL: 'gateway.example.com' }, /BASE_URL/],
    [{ ADMIN_KEY: 'short' }, /ADMIN_KEY.*16 characters/],
    [{ ENCRYPTION_KEY: 'c2hvcnQ=' }, /ENCRYPTION_KEY.*32 random bytes/],
    [{ ENCRYPTION_KEY: btoa('\0'.repeat(32)) }, /ENCRYPTION_KEY/],
    [{ DATABASE_URL: 'mysql://x' }, /DATABASE_URL/],
    [{ DATABASE_URL: nowhere }, /ENCRYPTION_KEY is required/],
    [{ DATABASE_URL: nowhere, ENCRYPTION_KEY: key }, /database.*ECONNREFUSED.*DATABASE_URL/],
    [
      { DATABASE_URL: 'postgres://localhost:9/none', ENCRYPTION_KEY: key },
      /database.*ECONNREFUSED.*DATABASE_URL/,
    ],
    [{ REQUEST_TIMEOUT_SECONDS: '0' }, /REQUEST_TIMEOUT_SECONDS/],
    [{ REQUEST_TIMEOUT_SECONDS: '99999999' }, /REQUEST_TIMEOUT_SECONDS/],
    [{ SANDBOX: 'yes' }, /SANDBOX/],
    [{ LOG_LEVEL: 'loud' }, /LOG_LEVEL/],
    [{ HTTPS_PROXY: 'http://127.0.0.1:9' }, /HTTPS_PROXY/],
  ])('%j', async (environment, words) => {
    const dataDir = await directory()
    await expectRefusal({ DATA_DIR: dataDir, ...environment }, words)
  })

  test('a DATA_DIR that is a file', async () => {
    const path = join(await directory(), 'file')
    await writeFile(path, '')
    await expectRefusal({ DATA_DIR: path }, /data directory .*DATA_DIR/)
  })

  test('a port that is in use, and leaves no PostgreSQL behind', async () => {
    // As another Tollgate would have it, which shared it once.
    using other = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      reusePort: true,
      fetch: () => new Response(),
    })
    const dataDir = await directory('started')
    await expectRefusal({ DATA_DIR: dataDir, PORT: String(other.port) }, /in use.*PORT/)
    expect(postgresOf(dataDir)).toEqual([])
  })

  test('a port on which another Tollgate listens, which goes on alone', async () => {
    await using gateway = await startGateway()
    await expectTaken('PORT', new URL(gateway.url).port)
    expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200)
  })

  test('a port for metrics that another Tollgate uses, which continues alone', async () => {
    await using gateway = await startGateway({ environment: { METRICS_PORT: '0' } })
    const internal = await internalUrl(gateway)
    await expectTaken('METRICS_PORT', new URL(internal).port)
    expect((await fetch(`${internal}/healthz`)).status).toBe(200)
  })

  test('an encryption key that is damaged', async () => {
    const dataDir = await directory()
    await writeFile(join(dataDir, 'encryption-key'), 'c2hvcnQ=\n')
    await expectRefusal({ DATA_DIR: dataDir }, /encryption-key is damaged/)
  })

  test('K07: an encryption key that did not seal the stored secrets', async () => {
    const dataDir = await directory('started')
    {
      await using gateway = await startGateway({ dataDir })
      await gateway.admin('POST', '/connections', {
        name: 'x',
        provider: 'openai',
        api_key: 'sk-x',
      })
    }
    await expectRefusal({ DATA_DIR: dataDir, ENCRYPTION_KEY: key }, /ENCRYPTION_KEY is not the one/)
    expect(postgresOf(dataDir)).toEqual([])
  })

  test('a database that takes no password', async () => {
    await using gateway = await startGateway()
    const url = (await databaseUrl(gateway.dataDir)).replace(/:[^:@]+@/, ':wrong-canary@')
    const dataDir = await directory()
    const environment = { DATA_DIR: dataDir, DATABASE_URL: url, ENCRYPTION_KEY: key }
    const started = launch(environment)
    expect(await started.exited).toBe(1)
    expect(started.err()).toMatch(/^tollgate: [^\n]*password[^\n]*\n$/)
    expect(started.err()).not.toContain('canary')
  })
})

test('L10: a second process on the same data directory refuses; the first goes on', async () => {
  const dataDir = await directory('started')
  await using gateway = await startGateway({ dataDir })
  const { key } = await gateway.customer()
  for (let count = 0; count < 3; count++) {
    await expectRefusal({ DATA_DIR: dataDir }, new RegExp(`in use.*process ${gateway.pid}`))
  }
  const response = await fetch(`${gateway.url}/v1/models`, {
    headers: { authorization: `Bearer ${key}` },
  })
  expect(response.status).toBe(200)
})

test('L10: one of several concurrent starts on a fresh directory serves', async () => {
  const dataDir = await directory()
  const all = [
    launch({ DATA_DIR: dataDir }),
    launch({ DATA_DIR: dataDir }),
    launch({ DATA_DIR: dataDir }),
  ]
  const results = await Promise.allSettled(all.map((it) => it.ready()))
  // One that is only slow has not been refused.
  for (const result of results) {
    if (result.status === 'rejected' && result.reason instanceof WaitTimeoutError)
      throw result.reason
  }
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  for (const it of all) it.kill('SIGTERM')
  const codes = await Promise.all(all.map(({ exited }) => exited))
  expect(codes.toSorted((a, b) => a - b)).toEqual([0, 1, 1])
})

test('three on one fresh database all come up; migrations and the first account are made once', async () => {
  await using host = await startGateway({ database: 'embedded' })
  await using sql = await openAdmin(host.dataDir)
  await sql`create database fresh owner tollgate`
  const environment = {
    DATABASE_URL: (await databaseUrl(host.dataDir)).replace('/tollgate?', '/fresh?'),
    ENCRYPTION_KEY: btoa('fedcba9876543210'.repeat(2)),
    ADMIN_KEY: 'an-operator-key-of-three',
  }
  const dirs = await Promise.all([directory(), directory(), directory()])
  const all = dirs.map((DATA_DIR) => launch({ ...environment, DATA_DIR }))
  const addresses = await Promise.all(all.map((it) => it.ready()))
  const lists = await Promise.all(
    addresses.map(async (address) => {
      const response = await fetch(`${address}/api/admin/users`, {
        headers: { authorization: `Bearer ${environment.ADMIN_KEY}` },
      })
      return response.text()
    }),
  )
  expect(new Set(lists).size).toBe(1)
  expect(JSON.parse(lists[0] ?? '')).toMatchObject({ pagination: { total: 1 } })
  const shown = all.filter((it) => it.out().includes('Your API key'))
  expect(shown).toHaveLength(1)
  for (const it of all) it.kill('SIGTERM')
  expect(await Promise.all(all.map(({ exited }) => exited))).toEqual([0, 0, 0])
})

test('a missing directory is created', async () => {
  const parent = await directory()
  await mkdir(join(parent, 'x'), { mode: 0o755 })
  await using started = launch({ DATA_DIR: join(parent, 'x/deep/data') })
  await started.ready()
  expect(await readdir(join(parent, 'x/deep/data'))).toContain('admin-key')
})
