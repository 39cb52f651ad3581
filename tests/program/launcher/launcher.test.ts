import { describe, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { checkout, launch, outcome } from './checkout'

/** Installs a package whose `bin/bun` is `script`; as far up as `folder`. */
async function install(folder: string, name: string, mode = 0o755): Promise<void> {
  const path = join(folder, 'node_modules', name, 'bin/bun')
  await mkdir(dirname(path), { recursive: true })
  await writeFile(join(dirname(path), '../package.json'), '{}')
  await writeFile(path, '#!/bin/sh\necho "this is $0"\n')
  await chmod(path, mode)
}

describe('the server', () => {
  test('runs where the user stands, knows its launcher, and gives it its exit code', async () => {
    const root = await checkout()
    const { code, out, err } = await outcome(launch(root, ['start', 'exit-7']))
    const seen: Record<string, unknown> = JSON.parse(out)
    expect({ code, err }).toEqual({ code: 7, err: '' })
    expect(seen).toMatchObject({ cwd: root, BUN_CONFIG_MAX_HTTP_REQUESTS: '65535' })
    expect(seen['launcher']).toBe(String(seen['ppid']))
  })

  test('has no proxy, from the environment or from a .env file', async () => {
    const root = await checkout()
    await writeFile(join(root, '.env'), 'HTTP_PROXY=http://127.0.0.1:9\n')
    const environment = { no_proxy: '*', BUN_CONFIG_MAX_HTTP_REQUESTS: '9' }
    const { out, err } = await outcome(launch(root, [], environment))
    const expected = { HTTP_PROXY: '', no_proxy: '', BUN_CONFIG_MAX_HTTP_REQUESTS: '9' }
    expect(JSON.parse(out)).toMatchObject(expected)
    expect(err).toBe('tollgate: no_proxy ignored: upstreams are reached directly.\n')
  })

  test('killed exits with the code that a shell would give', async () => {
    expect((await outcome(launch(await checkout(), ['start', 'die']))).code).toBe(137)
  })
})

describe('Bun', () => {
  const baseline = '@oven/bun-linux-x64-baseline'
  const isLinuxX64 = process.platform === 'linux' && process.arch === 'x64'

  test('is found above, where npm hoisted it', async () => {
    const root = await checkout()
    const names = ['linux-x64', 'linux-x64-musl', 'linux-aarch64', 'darwin-x64', 'darwin-aarch64']
    for (const name of names) await install(root, `@oven/bun-${name}`)
    const { code, out } = await outcome(launch(root, [], { TOLLGATE_BUN: '' }))
    expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining(`this is ${root}/node`) })
  })

  test.skipIf(!isLinuxX64)('is another without AVX2 (Linux on x64)', async () => {
    const root = await checkout()
    await writeFile(join(root, 'cpuinfo'), 'flags\t\t: fpu sse4_2 avx\n')
    const environment = { TOLLGATE_BUN: '', TOLLGATE_CPUINFO: join(root, 'cpuinfo') }
    const missing = await outcome(launch(root, [], environment))
    expect(missing).toMatchObject({ code: 1, err: expect.stringContaining(`${baseline}@1.4.5`) })
    await install(root, baseline)
    expect((await outcome(launch(root, [], environment))).out).toContain(baseline)
  })

  const useless: [string, (path: string) => Promise<unknown>, string][] = [
    ['is missing', async () => undefined, 'There is no Bun at'],
    ['is not executable', (path) => writeFile(path, '', { mode: 0o644 }), 'chmod +x'],
    [
      'cannot be run',
      (path) => writeFile(path, '#!/nonexistent\n', { mode: 0o755 }),
      'cannot be run',
    ],
  ]
  test.each(useless)('as %s is one line', async (_name, prepare, words) => {
    const root = await checkout()
    await prepare(join(root, 'bun'))
    const { code, err } = await outcome(launch(root, [], { TOLLGATE_BUN: join(root, 'bun') }))
    expect(code).toBe(1)
    expect(err.trim().split('\n')).toEqual([expect.stringContaining(words)])
  })

  test('missing is one line', async () => {
    const { code, err } = await outcome(launch(await checkout(), [], { TOLLGATE_BUN: '' }))
    expect({ code, lines: err.trim().split('\n') }).toEqual({
      code: 1,
      lines: [expect.stringContaining('npm ci')],
    })
  })
})

describe('the other commands', () => {
  test('finding N13: options without a command are options of start', async () => {
    const root = await checkout()
    const started = await outcome(launch(root, ['--workers', '2']))
    expect(started).toMatchObject({ code: 0, err: '', out: expect.stringContaining('"cwd"') })
  })

  test('--version, --help and a typing error', async () => {
    const root = await checkout()
    expect((await outcome(launch(root, ['--version']))).out).toBe('1.2.3\n')
    expect((await outcome(launch(root, ['--help']))).out).toContain('Usage: tollgate')
    expect((await outcome(launch(root, ['bench', '--help']))).out).toContain('Usage: tollgate')
    for (const args of [['strat'], ['bench', 'strat']]) {
      const { code, err } = await outcome(launch(root, args))
      expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining('"strat"') })
    }
  })

  test('test passes its arguments on, at the root', async () => {
    const root = await checkout()
    const source = `
      import { test } from 'bun:test'
      const { TEST_DATABASES, TEST_SERVER, TEST_GATEWAYS } = process.env
      test('one', () => console.log(process.cwd(), TEST_DATABASES, TEST_SERVER, TEST_GATEWAYS))`
    await writeFile(join(root, 'app/one.test.ts'), source)
    const { code, out } = await outcome(launch(root, ['test', 'one']))
    const words = [join(root, 'app'), '/the/socket', '/the/server', '/gateways/of/the/server']
    const expected = expect.stringContaining(words.join(' '))
    expect({ code, out }).toEqual({ code: 0, out: expected })
    expect(existsSync(join(root, 'databases-ended'))).toBe(true)
    expect(existsSync(join(root, 'gateways-ended'))).toBe(true)
  })

  test.each([
    ['serve-databases.ts', 'databases for tests', false],
    ['serve-gateways.ts', 'gateways for tests', true],
    ['bundle-server.ts', 'bundled for tests', true],
  ])('test reports the failure of %s, and ends the others', async (file, words, hasDatabases) => {
    const root = await checkout()
    await writeFile(join(root, 'app/server/testing', file), 'process.exit(1)')
    const { code, err } = await outcome(launch(root, ['test', 'one']))
    expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining(words) })
    expect(existsSync(join(root, 'databases-ended'))).toBe(hasDatabases)
  })

  test('deep runs the tests that test leaves out, and only its samples beside them', async () => {
    const root = await checkout()
    const testing = join(root, 'app/server/testing')
    await writeFile(join(testing, 'depth.ts'), 'export const isDeep = process.env.TEST_DEEP')
    const isDeep = "import { isDeep } from './testing/depth'"
    const sources = { 'a.test.ts': '', 'b.deep.test.ts': isDeep, 'c.test.ts': isDeep }
    for (const [name, first] of Object.entries(sources)) {
      const printed = first ? `'${name} ' + isDeep` : `'${name}'`
      const rest = `import { test } from 'bun:test'\ntest('it', () => console.log(${printed}))`
      await writeFile(join(root, 'app/server', name), `${first}\n${rest}`)
    }
    await mkdir(join(root, 'app/tests/program'), { recursive: true })
    const program = `import { test } from 'bun:test'\ntest('it', () => console.log('d.test.ts'))`
    await writeFile(join(root, 'app/tests/program/d.test.ts'), program)
    const outputOf = async (command: string) => {
      const { out, err } = await outcome(launch(root, [command]))
      return `${out}${err}`.match(/^\w+(\.deep)?\.test\.ts( \w+)?$/gm)?.toSorted()
    }
    expect(await outputOf('test')).toEqual(['a.test.ts', 'c.test.ts undefined'])
    expect(await outputOf('deep')).toEqual(['b.deep.test.ts true', 'c.test.ts true', 'd.test.ts'])
  })

  test('check runs every step, prints the output of each, and names the failed ones last', async () => {
    const root = await checkout()
    const tools: [string, number][] = [
      ['oxlint', 0],
      ['knip', 3],
      ['oxfmt', 4],
    ]
    for (const [name, code] of tools) {
      const folder = join(root, 'node_modules', name)
      await mkdir(folder, { recursive: true })
      await writeFile(join(folder, 'package.json'), JSON.stringify({ bin: { [name]: 'run.js' } }))
      const source = `console.log('output of ${name}'); process.exit(${code})`
      await writeFile(join(folder, 'run.js'), source)
    }
    await mkdir(join(root, 'app/server/scripts'))
    await writeFile(join(root, 'app/server/scripts/openapi.ts'), `console.log('output of openapi')`)
    await mkdir(join(root, 'app/client'))
    await writeFile(join(root, 'app/client/generate.ts'), '')
    const layers = `import { test } from 'bun:test'\ntest('layers', () => undefined)`
    await writeFile(join(root, 'app/server/src/layers.test.ts'), layers)
    const { code, out, err } = await outcome(launch(root, ['check']))
    expect(code).toBe(3)
    const order = ['oxlint', 'openapi', 'knip', 'oxfmt'].map((name) => `output of ${name}`)
    expect(out.split('\n').filter((line) => order.includes(line))).toEqual(order)
    expect(err.trim().split('\n')).toEqual([
      'tollgate check: unused code failed. By itself: npx knip --cache',
      'tollgate check: format failed. By itself: npx oxfmt --check',
    ])
  })
})
