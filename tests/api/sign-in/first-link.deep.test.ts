import { afterEach, expect, test } from 'bun:test'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Browser, linksFor, password } from '../../harness/browser-session'
import { operatorLink } from './operator-link'
import { openDatabase } from '../../harness/database'
import { startAtTerminal } from '../../program/process/terminal'
import { newDataDir, startGateway } from '../../harness/server'
import { runCommand } from '../../harness/run-command'

const directories: string[] = []
afterEach(async () => {
  for (const path of directories.splice(0)) await rm(path, { recursive: true, force: true })
})

async function directory(state?: 'started'): Promise<string> {
  const path = await newDataDir(state)
  directories.push(path)
  return path
}

const link = /(http\S+)(\/api\/auth\/magic-link\/verify\S+)/

/** Opens a link and returns the status of what only an operator may read: 200 if and only if the link signed in. */
async function statusBy(url: string, path: string): Promise<number> {
  const browser = new Browser({ url })
  const { status: opened, location } = await browser.send(`GET ${path}`)
  const { status } = await browser.send('GET /api/admin/users')
  const expectedLocation = status === 200 ? '/' : '/?error=INVALID_TOKEN'
  expect({ opened, location }).toEqual({ opened: 302, location: expectedLocation })
  return status
}

test('N2: a non-terminal receives neither a link nor the key, at any start, only the command', async () => {
  const dataDir = await directory('started')
  for (const start of ['first', 'second']) {
    await using gateway = await startGateway({ dataDir })
    const key = (await readFile(join(dataDir, 'first-key'), 'utf8')).trim()
    expect([start, link.exec(gateway.output())]).toEqual([start, null])
    expect(gateway.output()).not.toContain(key)
    expect(gateway.output()).toMatch(/Sign in +run: tollgate sign-in-link\n/)
    expect(gateway.output()).toMatch(/Your API key +\S+first-key\n/)
  }
}, 120_000)

test('N2: a terminal shows both at its first start, and a new link at each further one', async () => {
  const dataDir = await directory('started')
  const paths: string[] = []
  for (const start of ['first', 'second']) {
    await using server = startAtTerminal({ DATA_DIR: dataDir })
    await server.shows(/Limits[\s\S]*curl[\s\S]*\}'/)
    const key = (await readFile(join(dataDir, 'first-key'), 'utf8')).trim()
    expect([start, server.text().includes(key)]).toEqual([start, start === 'first'])
    const [, url = '', path = ''] = link.exec(server.text()) ?? []
    // Not opened: the second start must end it all the same.
    const [earlier] = paths
    if (earlier === undefined) paths.push(path)
    else {
      expect(await statusBy(url, earlier)).toBe(404)
      expect(await statusBy(url, path)).toBe(200)
    }
  }
  expect(paths).toHaveLength(1)
}, 120_000)

test('S9: one link is valid: each new one ends the earlier ones, of an earlier start too', async () => {
  const dataDir = await directory('started')
  const made: string[] = []
  for (const start of [1, 2]) {
    await using gateway = await startGateway({ dataDir })
    made.push(await operatorLink(gateway), await operatorLink(gateway))
    const paths = made.map((one) => one.slice(one.indexOf('/api/')))
    const statuses: number[] = []
    for (const path of start === 1 ? paths.slice(0, 1) : paths) {
      statuses.push(await statusBy(gateway.url, path))
    }
    expect(statuses).toEqual(start === 1 ? [404] : [404, 404, 404, 200])
  }
}, 120_000)

test('S9: one of several concurrently made links stays valid', async () => {
  await using gateway = await startGateway()
  const links = await Promise.all(Array.from({ length: 4 }, () => operatorLink(gateway)))
  const statuses: number[] = []
  for (const one of links) {
    statuses.push(await statusBy(gateway.url, one.slice(one.indexOf('/api/'))))
  }
  expect(statuses.toSorted((one, other) => one - other)).toEqual([200, 404, 404, 404])
}, 120_000)

const hourMs = 3_600_000

test('N2: the command works without a running server, for programs too, and reports errors', async () => {
  const dataDir = await directory()
  const settings = { DATA_DIR: dataDir, HOST: '::1', PORT: '8099' }
  const nothing = await runCommand('sign-in-link', settings)
  expect([nothing.code, nothing.out]).toEqual([2, ''])
  expect(nothing.err).toContain(`There is no database in ${dataDir}`)
  await using(await startGateway({ dataDir }))
  const begunMs = Date.now()
  const { out, code } = await runCommand('sign-in-link', settings, '--json')
  const output = JSON.parse(out)
  expect([code, output.link]).toEqual([
    0,
    expect.stringMatching(/^http:\/\/\[::1\]:8099\/api\/auth/),
  ])
  expect(Date.parse(output.expires_at)).toBeWithin(begunMs + hourMs, Date.now() + hourMs + 1)
  const zero = await runCommand('sign-in-link', { DATA_DIR: dataDir, PORT: '0' })
  expect([zero.code, zero.err]).toEqual([2, expect.stringContaining('Set BASE_URL or PORT')])
}, 120_000)

const using = async (one: AsyncDisposable) => one[Symbol.asyncDispose]()

test('once the operator has a password, starts name no way in, and open links end', async () => {
  const dataDir = await directory('started')
  {
    await using gateway = await startGateway({ dataDir })
    await using sql = await openDatabase(dataDir)
    const browser = new Browser(gateway)
    await browser.send(`GET ${await operatorLink(gateway)}`)
    const { body } = await browser.send('GET /api/account/settings')
    const email = String(body['email'])
    const left = await operatorLink(gateway)
    const resetRequest = { email, redirectTo: '/reset-password' }
    await browser.send('POST /api/auth/request-password-reset', resetRequest)
    const [reset = ''] = await linksFor(sql, email)
    const token = new URL(reset).pathname.split('/').at(-1)
    const chosen = { token, newPassword: password }
    expect((await browser.send('POST /api/auth/reset-password', chosen)).status).toBe(200)
    expect(await statusBy(gateway.url, left.slice(left.indexOf('/api/')))).toBe(404)
  }
  await using gateway = await startGateway({ dataDir })
  expect(gateway.output()).not.toContain('Sign in')
  // An operator with access to the database may sign in all the same, without the password.
  expect(await statusBy(gateway.url, new URL(await operatorLink(gateway)).href)).toBe(200)
}, 120_000)
