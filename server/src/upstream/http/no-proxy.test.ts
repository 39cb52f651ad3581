import { expect, test } from 'bun:test'
import { join } from 'node:path'

const proxy = 'http://127.0.0.1:9'
const settings = [
  ...['HTTPS_PROXY', 'HTTP_PROXY', 'ALL_PROXY'].map((name) => [name, proxy] as const),
  ...['*', 'one.example', '127.0.0.2'].map((value) => ['NO_PROXY', value] as const),
].flatMap(([name, value]) => [[name, value] as const, [name.toLowerCase(), value] as const])

const script = `
  const { GuardedEgress } = await import('./guarded-egress')
  try {
    new GuardedEgress({})
    console.log('opened')
  } catch (thrown) {
    console.log(thrown.name, thrown.message)
  }`

/** What a process of this environment says. */
async function saidIn(environment: Record<string, string>): Promise<string> {
  const child = Bun.spawn([process.execPath, '--no-env-file', '-e', script], {
    cwd: join(import.meta.dir),
    env: { PATH: process.env['PATH'], ...environment },
  })
  return new Response(child.stdout).text()
}

test.each(settings)('X11: with %s=%s there is no guarded egress', async (name, value) => {
  expect(await saidIn({ [name]: value })).toStartWith(`StartError ${name} is set.`)
})

test('X11: without them there is', async () => {
  expect(await saidIn({ HTTPS_PROXY: '', no_proxy: '' })).toBe('opened\n')
})
