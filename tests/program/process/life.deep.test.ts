import { afterEach, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { launch, postgresOf } from './launch'
import { paste } from './paste'
import { newDataDir, startGateway } from '../../harness/server'
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

test('the curl of a first start works as pasted, and that of a later one too', async () => {
  const parent = await directory()
  // What people call their folders.
  const dataDir = join(parent, "it's my data")
  await mkdir(dataDir, { mode: 0o711 })
  {
    await using first = launch({ DATA_DIR: dataDir })
    await first.ready()
    // Not at a terminal: the key is only in its file.
    expect(first.out()).not.toContain('sk-tg-')
    const { exitCode, answer } = paste(first.out())
    expect(exitCode).toBe(0)
    expect(JSON.parse(answer)).toMatchObject({ object: 'chat.completion' })
  }
  {
    await using later = launch({ DATA_DIR: dataDir })
    await later.ready()
    expect(later.out()).not.toContain('sk-tg-')
    const { exitCode, answer } = paste(later.out())
    expect(exitCode).toBe(0)
    expect(JSON.parse(answer)).toMatchObject({ object: 'chat.completion' })
  }
  // The key was moved away: the request names where it goes instead.
  const key = (await readFile(join(dataDir, 'first-key'), 'utf8')).trim()
  await rm(join(dataDir, 'first-key'))
  await using last = launch({ DATA_DIR: dataDir })
  await last.ready()
  expect(paste(last.out(), { TOLLGATE_KEY: key }).exitCode).toBe(0)
})

test('the curl works with another HOST, and has a hint without the sandbox', async () => {
  const dataDir = await directory('started')
  {
    await using started = launch({ DATA_DIR: dataDir, HOST: '127.0.0.2' })
    const address = await started.ready()
    expect(address).toStartWith('http://127.0.0.2:')
    expect(paste(started.out()).exitCode).toBe(0)
  }
  await using bare = launch({ DATA_DIR: dataDir, SANDBOX: 'false' })
  await bare.ready()
  expect(bare.out()).not.toContain('sandbox')
})

test('ADMIN_KEY of the environment is the operator key, and is written nowhere', async () => {
  const dataDir = await directory('started')
  const adminKey = 'operator-key-of-the-environment'
  await using gateway = await startGateway({ dataDir, environment: { ADMIN_KEY: adminKey } })
  await gateway.admin('GET', '/users')
  expect(await Bun.file(join(dataDir, 'admin-key')).exists()).toBe(false)
  expect(gateway.output()).not.toContain(adminKey)
  const found = Bun.spawnSync(['grep', '-r', adminKey, dataDir])
  expect(found.stdout.toString()).toBe('')
})

test('ADMIN_KEY_FILE names a file with the operator key, for each worker', async () => {
  const dataDir = await directory('started')
  const adminKey = 'operator-key-of-a-mounted-file'
  const path = join(await directory(), 'admin-key')
  await Bun.write(path, `${adminKey}\n`)
  await using started = launch({ DATA_DIR: dataDir, WORKERS: '2', ADMIN_KEY_FILE: path })
  const url = await started.ready()
  const headers = { authorization: `Bearer ${adminKey}` }
  const answers = Array.from({ length: 8 }, () => fetch(`${url}/api/admin/users`, { headers }))
  expect(new Set((await Promise.all(answers)).map(({ status }) => status))).toEqual(new Set([200]))
  expect(await Bun.file(join(dataDir, 'admin-key')).exists()).toBe(false)
})

test('killed, it starts again with all its data', async () => {
  const dataDir = await directory('started')
  const first = await startGateway({ dataDir })
  const { key, userId } = await first.customer()
  await first.admin('POST', '/providers', { key: 'kept', name: 'Kept', adapter: 'openai' })
  await first.stop('SIGKILL')
  await using again = await recordTimeFigure('ready after a kill', { atMost: 5000 }, () =>
    startGateway({ dataDir }),
  )
  expect(again.adminKey).toBe(first.adminKey)
  expect(await again.admin('GET', `/users/${userId}`)).toMatchObject({ id: userId })
  expect(JSON.stringify(await again.admin('GET', '/providers'))).toContain('"kept"')
  const response = await fetch(`${again.url}/v1/models`, {
    headers: { authorization: `Bearer ${key}` },
  })
  expect(response.status).toBe(200)
})

test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
  '%s ends it with 0, and its PostgreSQL too',
  async (signal) => {
    const dataDir = await directory('started')
    const started = launch({ DATA_DIR: dataDir })
    await started.ready()
    expect(postgresOf(dataDir).length).toBeGreaterThan(0)
    started.kill(signal)
    expect(await started.exited).toBe(0)
    expect(started.err()).toBe('')
    expect(postgresOf(dataDir)).toEqual([])
    await using again = launch({ DATA_DIR: dataDir })
    await again.ready()
  },
)
