import { afterAll, expect, test } from 'bun:test'
import { spawn } from 'node:child_process'
import { cp, mkdtemp, readFile, readdir, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { newDataDir } from '../../harness/server'
import { eventually, eventuallyReads } from '../../../server/testing/eventually'

const root = join(import.meta.dir, '../../..')
const stack = new AsyncDisposableStack()
afterAll(() => stack.disposeAsync())

const parts = ['bin', 'cli', 'client', 'connect', 'dashboard', 'server', 'package.json']
const files = [...parts, 'package-lock.json', 'tsconfig.json', 'openapi.json', 'CHANGELOG.md']

const isCopied = (path: string) => !/\/(?:node_modules|dist)$/.test(path)

/** Copies this checkout; its packages stay where they are. */
async function copyCheckout(): Promise<string> {
  const copy = await realpath(await mkdtemp(join(tmpdir(), 'tollgate-test-')))
  stack.defer(() => rm(copy, { recursive: true, force: true }))
  for (const name of files) {
    await cp(join(root, name), join(copy, name), { recursive: true, filter: isCopied })
  }
  for (const folder of ['.', 'cli', 'client', 'connect', 'dashboard', 'server']) {
    const packages = await realpath(join(root, folder, 'node_modules')).catch(() => undefined)
    if (packages) await symlink(packages, join(copy, folder, 'node_modules'))
  }
  return copy
}

/** Starts a checkout with two workers, as `npm start` does. Resolves with its output once it is ready. */
async function start(checkout: string) {
  const dataDir = await newDataDir()
  stack.defer(() => rm(dataDir, { recursive: true, force: true }))
  const child = spawn('node', ['bin/tollgate.mjs', 'start', '--workers', '2'], {
    cwd: checkout,
    env: {
      PATH: process.env['PATH'],
      TOLLGATE_BUN: process.execPath,
      PORT: '0',
      DATA_DIR: dataDir,
      LOCAL_DISCOVERY: 'false',
      LOG_LEVEL: 'error',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  stack.defer(async () => {
    const ended = Promise.withResolvers<void>()
    child.once('close', () => ended.resolve())
    if (child.exitCode === null) child.kill('SIGTERM')
    else ended.resolve()
    await ended.promise
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text))
  const address = await eventuallyReads(
    () => Promise.resolve(/is ready at (http:\S+)/.exec(output)?.[1]),
    (found) => found !== undefined || child.exitCode !== null,
    240_000,
  )
  if (address === undefined) throw new Error(output)
  return { url: address.replace('localhost', '127.0.0.1'), launcherPid: child.pid ?? 0 }
}

/** Lists the processes below another one. */
async function childrenOf(pid: number): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')
  return text.split(' ').filter(Boolean).map(Number)
}

/** Asks for the health on a new connection, so that the kernel chooses the worker. */
async function readHealth(url: string): Promise<string> {
  const request = fetch(`${url}/healthz`, { keepalive: false, headers: { connection: 'close' } })
  return request.then(
    (response) => response.text(),
    () => 'reset',
  )
}

test('SIGUSR2 replaces the workers by a bundle of the sources as they are then', async () => {
  const checkout = await copyCheckout()
  const { url, launcherPid } = await start(checkout)
  expect(await readHealth(url)).toBe('{"status":"ok"}')
  const bundles = join(checkout, 'dist/server')
  expect(await readdir(bundles)).toHaveLength(1)
  const source = join(checkout, 'server/src/http/service.ts')
  const text = await readFile(source, 'utf8')
  const changed = text.replace("{ status: 'ok' }", "{ status: 'updated' }")
  expect(changed).not.toBe(text)
  await writeFile(source, changed)
  const [serverPid = 0] = await childrenOf(launcherPid)
  process.kill(serverPid, 'SIGUSR2')
  let updates = 0
  // Either worker answers some of them: after so many in a row, both are new.
  await eventually(async () => {
    updates = (await readHealth(url)) === '{"status":"updated"}' ? updates + 1 : 0
    return updates >= 20
  }, 240_000)
  expect(await readdir(bundles)).toHaveLength(2)
}, 600_000)
