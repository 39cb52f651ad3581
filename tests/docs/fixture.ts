import { chmod, mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Block, root } from './pages'
import { newDataDir, startGateway } from '../harness/server'
import { startFakeProvider } from '../harness/upstreams/fake-provider'

/**
 * Where blocks are run: a gateway as its first start leaves it, with providers whose models answer, and a
 * directory in which `data` is its data directory, as in a checkout.
 */
export interface Fixture extends AsyncDisposable {
  directory: string
  /** What every page may take for set: docs/index.md tells readers how. */
  environment: Record<string, string>
  /** The code of a block, for this gateway's port. Nothing else of it is changed. */
  here: (block: Block) => string
}

const providers = ['openai', 'anthropic', 'groq'] as const

export async function createFixture(): Promise<Fixture> {
  const stack = new AsyncDisposableStack()
  const upstream = stack.use(await startFakeProvider())
  const relay = startRelay(upstream.url)
  stack.defer(() => relay.stop(true))
  const dataDir = await newDataDir()
  stack.defer(() => rm(dataDir, { recursive: true, force: true }))
  const gateway = stack.use(
    await startGateway({ dataDir, environment: connected(relay.url.origin) }),
  )
  const directory = await mkdtemp(join(tmpdir(), 'tollgate-test-docs-'))
  stack.defer(() => rm(directory, { recursive: true, force: true }))
  await symlink(dataDir, join(directory, 'data'))
  await addPrograms(join(directory, 'bin'))
  const firstKey = (await Bun.file(join(dataDir, 'first-key')).text()).trim()
  const address = new URL(gateway.url).host
  return {
    directory,
    environment: {
      PATH: `${join(directory, 'bin')}:${process.env['PATH'] ?? ''}`,
      PORT: new URL(gateway.url).port,
      HOME: directory,
      BASE: gateway.url,
      KEY: firstKey,
      ADMIN_KEY: gateway.adminKey,
    },
    here: ({ code }) => code.replaceAll('localhost:8080', address),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

/** `tollgate` and `node bin/tollgate.mjs` are those of this checkout, as they are for who stands in one. */
async function addPrograms(folder: string): Promise<void> {
  const launcher = join(root, 'bin/tollgate.mjs')
  await Bun.write(join(folder, 'tollgate'), `#!/bin/sh\nexec node '${launcher}' "$@"\n`)
  await chmod(join(folder, 'tollgate'), 0o755)
  await symlink(launcher, join(folder, 'tollgate.mjs'))
}

const connected = (relay: string): Record<string, string> =>
  Object.fromEntries(
    providers.flatMap((name) => [
      [`${name.toUpperCase()}_API_KEY`, `sk-${name}-stand-in`],
      [`${name.toUpperCase()}_BASE_URL`, `${relay}${name === 'anthropic' ? '' : '/v1'}`],
    ]),
  )

/** The fake provider does what a model's name says: here every name means a good answer. */
function startRelay(upstream: string) {
  return Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const { pathname } = new URL(request.url)
      const body = request.method === 'POST' ? await request.text() : undefined
      return fetch(`${new URL(upstream).origin}${pathname}`, {
        method: request.method,
        headers: request.headers,
        ...(body !== undefined && { body: body.replace(/"model":"[^"]*"/, '"model":"ok"') }),
      })
    },
  })
}

export interface RunResult {
  code: number
  /** Both outputs, in their order. */
  output: string
}

const patienceMs = 60_000

/** Runs a program on the fixture; one that does not end is killed. */
export async function runOn(
  fixture: Fixture,
  command: readonly string[],
  environment: Record<string, string> = {},
): Promise<RunResult> {
  const child = Bun.spawn(['bash', '-c', 'exec "$@" 2>&1', 'bash', ...command], {
    cwd: fixture.directory,
    env: { ...fixture.environment, ...environment },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'inherit',
    timeout: patienceMs,
    killSignal: 'SIGKILL',
  })
  const output = await new Response(child.stdout).text()
  return { code: await child.exited, output }
}
