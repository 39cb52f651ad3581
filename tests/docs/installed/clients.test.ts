import { beforeAll, describe, expect, test } from 'bun:test'
import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { nameFor } from '../../clients/clients'
import { install, installOnce } from '../../clients/toolchains'
import { forFile } from '../../harness/for-file'
import {
  packagesInstalledBy,
  commandsOf,
  isInstalled,
  packagesOf,
  programs,
  shells,
} from '../languages'
import { type Block, isRun, assertRan, placeOf, readPages } from '../pages'
import { createFixture, runOn } from '../fixture'
import { hasRegistry } from '../../harness/registries'

/** `npm run test:docs`: what is written for libraries that have to be installed first. */
const pages = await readPages()
const blocks = pages.flatMap((page) => page.blocks).filter(isRun)
const withPlace = (some: readonly Block[]) => some.map((block) => [placeOf(block), block] as const)

const inPython = blocks.filter(({ language }) => language === 'python')
const inJavaScript = blocks.filter(
  ({ language, code }) => programs.includes(language) && !isInstalled(code),
)

const hasPython = Bun.which('python3') !== null && (await hasRegistry('python'))
if (!hasPython) console.log('not run: python, as there is no python3, or no way to its registry')
const hasNpm = await hasRegistry('node')
if (!hasNpm) console.log('not run: javascript, as there is no way to its registry')

const fixture = forFile(createFixture, async (opened) => opened[Symbol.asyncDispose]())
const manifest: { dependencies: Record<string, string> } = await Bun.file(
  join(import.meta.dir, 'package.json'),
).json()
const requirements = await Bun.file(join(import.meta.dir, 'requirements.txt')).text()

/** What a manifest of this folder names, in the cache of the client matrix. */
async function packagesFrom(file: string, make: (folder: string) => Promise<void>) {
  const text = await Bun.file(join(import.meta.dir, file)).text()
  return installOnce(nameFor(`docs-${file}`, text), async (folder) => {
    await Bun.write(join(folder, file), text)
    await make(folder)
  })
}

describe.if(hasPython)('python, with the libraries as they are published', () => {
  let interpreter = ''
  beforeAll(async () => {
    const folder = await packagesFrom('requirements.txt', async (own) => {
      await install(['python3', '-m', 'venv', 'venv'], own)
      const flags = ['--no-input', '-q', '-r', 'requirements.txt']
      await install([join(own, 'venv/bin/pip'), 'install', ...flags], own)
    })
    interpreter = join(folder, 'venv/bin/python')
  }, 300_000)

  test.each(withPlace(inPython))('%s', async (_place, block) => {
    assertRan(block, await runOn(fixture(), [interpreter, '-c', fixture().here(block)]))
  })
})

describe.if(hasNpm)('javascript, with the libraries as they are published', () => {
  let folder = ''
  beforeAll(async () => {
    folder = await packagesFrom('package.json', (own) =>
      install(['npm', 'install', '--ignore-scripts', '--no-audit', '--no-fund'], own),
    )
  }, 300_000)

  test.each(withPlace(inJavaScript))('%s', async (place, block) => {
    const { directory, here } = fixture()
    await symlink(join(folder, 'node_modules'), join(directory, 'node_modules')).catch(() => {})
    expect(packagesOf(block.code).filter((name) => !(name in manifest.dependencies))).toEqual([])
    const file = join(directory, `${place.replaceAll(/\W+/g, '-')}.ts`)
    await Bun.write(file, here(block))
    assertRan(block, await runOn(fixture(), [process.execPath, file]))
  })
})

test('the docs name the versions that are installed here', () => {
  const documented = blocks
    .filter(({ language }) => shells.includes(language))
    .flatMap(({ code }) =>
      commandsOf(code).flatMap((command) => packagesInstalledBy(command) ?? []),
    )
  expect(documented.length).toBeGreaterThan(3)
  const known = [...Object.keys(manifest.dependencies), 'openai', ...requirements.split(/==.*\n/)]
  expect(documented.filter((name) => !known.includes(name))).toEqual([])
})
