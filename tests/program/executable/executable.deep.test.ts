import { afterAll, beforeAll, expect, test } from 'bun:test'
import { chown, chmod, mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findTollgateKeys } from '../supply/secrets'
import { freePort } from '../../harness/free-port'
import { collectedBytes } from '../../../bin/engine.mjs'
import { findCommit, toBuildVersion } from '../../../bin/commit.mjs'
import { version } from '../../../package.json'
import { eventually } from '../../../server/testing/eventually'

const root = join(import.meta.dir, '../../..')
const build = join(root, 'deploy/executable/build.ts')
const isRoot = process.getuid?.() === 0
/** The account `nobody`: PostgreSQL wants a user that has a name. */
const other = 65_534

const stack = new AsyncDisposableStack()
let executable: string

beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-executable-'))
  await chmod(folder, 0o755)
  stack.defer(() => rm(folder, { recursive: true }))
  executable = join(folder, 'tollgate')
  const child = Bun.spawn([process.execPath, build, executable], { cwd: root, stdout: 'ignore' })
  expect(await child.exited).toBe(0)
}, 120_000)
// Three unpacked PostgreSQL, with their databases.
afterAll(() => stack.disposeAsync(), 60_000)

/** An empty directory of another user's, where that can be. */
async function emptyDirectory(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'tollgate-empty-'))
  stack.defer(() => rm(path, { recursive: true }))
  if (isRoot) await chown(path, other, other)
  return path
}

/** Runs it with nothing in its environment but this: no PATH, no home. */
function run(cwd: string, args: readonly string[], env: Record<string, string> = {}) {
  const user = isRoot ? { uid: other, gid: other } : {}
  const options = { cwd, env, stdout: 'pipe', stderr: 'pipe', ...user } as const
  const child = Bun.spawn([executable, ...args], options)
  const output = { out: '', err: '' }
  const read = async (name: 'out' | 'err') => {
    for await (const bytes of child[`std${name}`]) output[name] += new TextDecoder().decode(bytes)
  }
  const ended = Promise.all([child.exited, read('out'), read('err')]).then(([code]) => code)
  return { child, output, ended }
}

const serving = { PORT: '0', WORKERS: '1', LOCAL_DISCOVERY: 'false', LOG_LEVEL: 'error' }

async function serve(cwd: string, env: Record<string, string> = {}) {
  const { child, output, ended } = run(cwd, [], { ...serving, ...env })
  await eventually(() => output.out.includes('ready at') || child.exitCode !== null, 60_000)
  const [, port = ''] = /ready at http:\/\/localhost:(\d+)/.exec(output.out) ?? []
  if (port === '') throw new Error(`not ready:\n${output.out}${output.err}`)
  const address = `http://127.0.0.1:${port}`
  // Where a backup was restored there is none.
  const key = (await readFile(join(cwd, 'data/first-key'), 'utf8').catch(() => '')).trim()
  const ask = async (path: string, body: unknown) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    return fetch(address + path, { method: 'POST', headers, body: JSON.stringify(body) })
  }
  return {
    child,
    output,
    address,
    port,
    ask,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM')
      expect(await ended).toBe(0)
    },
  }
}

type Server = Awaited<ReturnType<typeof serve>>

const chat = (content: string) => ({
  model: 'sandbox/echo',
  messages: [{ role: 'user', content }],
})

async function expectEcho({ ask }: Server): Promise<void> {
  const response = await ask('/v1/chat/completions', chat('Hello!'))
  expect(await response.json()).toMatchObject({ choices: [{ message: { content: 'Hello!' } }] })
}

/** Of a prompt, as the worker counts it; an estimate by its length would be a quarter more. */
async function tokensCounted({ ask }: Server): Promise<unknown> {
  const response = await ask('/v1/messages/count_tokens', chat('word '.repeat(1000)))
  return response.json()
}

test('it prints its version and its commands, and rejects others', async () => {
  const cwd = await emptyDirectory()
  const versionRun = run(cwd, ['--version'])
  const build = toBuildVersion(version, findCommit(join(import.meta.dir, '../../..')))
  expect([await versionRun.ended, versionRun.output.out]).toEqual([0, `${build}\n`])
  const wrong = run(cwd, ['strat'])
  expect([await wrong.ended, wrong.output.err]).toEqual([
    2,
    'tollgate: There is no command "strat". See tollgate --help.\n',
  ])
  expect(await readdir(cwd)).toEqual([])
})

test('Z03: nothing in it is a key of ours', async () => {
  expect(findTollgateKeys(await readFile(executable, 'latin1'))).toEqual([])
})

test('it serves from an empty directory, with all its files, and again from the same directory', async () => {
  const cwd = await emptyDirectory()
  {
    await using server = await serve(cwd, { HTTP_PROXY: 'http://127.0.0.1:9' })
    expect(server.output.err).toBe(
      'tollgate: HTTP_PROXY ignored: upstreams are reached directly.\n',
    )
    await expectEcho(server)
    if (isRoot) expect((await stat(join(cwd, 'data'))).uid).toBe(other)
    const headers = { accept: 'text/html' }
    const page = await (await fetch(`${server.address}/sign-in`, { headers })).text()
    const [, script = ''] = /src="(\/assets\/[^"]+)"/.exec(page) ?? []
    const loaded = await fetch(server.address + script)
    expect([loaded.status, loaded.headers.get('content-type')]).toEqual([
      200,
      'text/javascript; charset=utf-8',
    ])
    const docs = await fetch(`${server.address}/docs/swagger-ui-bundle.js`)
    expect(await docs.text()).toContain('SwaggerUIBundle')
    expect(await tokensCounted(server)).toEqual({ input_tokens: 1009 })
  }
  await using again = await serve(cwd)
  await expectEcho(again)
  const healthy = run(cwd, ['healthy'], { PORT: again.port })
  expect(await healthy.ended).toBe(0)
  const audit = run(cwd, ['audit', '--json'])
  expect(await audit.ended).toBe(0)
  expect(JSON.parse(audit.output.out)).toMatchObject({ violations: [] })
}, 120_000)

/** What a command line came to. */
async function ended(cwd: string, line: string, env: Record<string, string> = {}) {
  const { output, ended: code } = run(cwd, line.split(' '), env)
  return { code: await code, ...output }
}

test('its commands operate it, back it up, and restore that elsewhere with its own PostgreSQL', async () => {
  const [cwd, elsewhere] = [await emptyDirectory(), await emptyDirectory()]
  {
    await using server = await serve(cwd)
    const PORT = server.port
    const made = await ended(cwd, 'users create ann@example.com --json', { PORT })
    expect([made.code, made.err, JSON.parse(made.out).email]).toEqual([0, '', 'ann@example.com'])
    for (const group of ['keys', 'credits', 'models', 'connections']) {
      const { code, out } = await ended(cwd, `${group} --help`)
      expect([code, out]).toEqual([0, expect.stringContaining(`tollgate ${group}`)])
    }
    const looked = await ended(cwd, 'doctor --json', { PORT })
    const { findings } = JSON.parse(looked.out)
    const bad = findings.filter(({ state }: { state: string }) => state === 'failure')
    expect([looked.code, bad]).toEqual([0, []])
    expect(await ended(cwd, 'migrate')).toMatchObject({ code: 0, err: '' })
    const backup = await ended(cwd, 'backup all.tar.gz --with-keys')
    expect([backup.code, backup.err]).toEqual([0, ''])
  }
  const restored = await ended(elsewhere, `restore ${join(cwd, 'all.tar.gz')}`)
  expect([restored.code, restored.err]).toEqual([0, ''])
  await using server = await serve(elsewhere)
  const { out } = await ended(elsewhere, 'users show ann@example.com --json', { PORT: server.port })
  expect(JSON.parse(out)).toMatchObject({ email: 'ann@example.com' })
}, 180_000)

test('the engine has its settings, in the same process, and no file beside it has a say', async () => {
  const cwd = await emptyDirectory()
  await writeFile(join(cwd, '.env'), 'SANDBOX=false\nADMIN_KEY=short\n')
  await writeFile(join(cwd, 'bunfig.toml'), 'preload = ["./evil.js"]\n')
  await writeFile(join(cwd, 'evil.js'), 'process.exit(3)\n')
  await using server = await serve(cwd, { BUN_JSC_largeHeapSize: '70000000' })
  await expectEcho(server)
  if (process.platform === 'linux') {
    const environment = await readFile(`/proc/${server.child.pid}/environ`, 'utf8')
    const settings = environment.split('\0').filter((it) => /^(BUN|MIMALLOC)_/.test(it))
    expect(settings.toSorted()).toEqual([
      'BUN_CONFIG_MAX_HTTP_REQUESTS=65535',
      `BUN_JSC_forceRAMSize=${collectedBytes()}`,
      'BUN_JSC_largeHeapSize=70000000',
      'MIMALLOC_PURGE_DELAY=1000',
    ])
  }
}, 120_000)

test('the agent of a gateway is included, with its needs for tools', async () => {
  const cwd = await emptyDirectory()
  const tools = [{ name: 'none', command: '/no-such-program', allow: ['any'] }]
  const config = join(cwd, 'connect.json')
  await writeFile(config, JSON.stringify({ url: 'https://tollgate.example', tools }), {
    mode: 0o644,
  })
  const { output, ended } = run(cwd, ['connect', '--config', config, '--check'], {
    TOLLGATE_GATEWAY_TOKEN: `gt-tg-${'k'.repeat(49)}`,
    OLLAMA_HOST: '127.0.0.1:1',
  })
  expect(await ended).toBe(1)
  expect(output.out).toEndWith('No tools.\n')
  expect(output.err).toContain('The tools of none are unavailable: /no-such-program cannot be run')
})

test('without a server, it reports that it is not healthy', async () => {
  const cwd = await emptyDirectory()
  expect(await run(cwd, ['healthy'], { PORT: String(freePort()) }).ended).toBe(1)
})
