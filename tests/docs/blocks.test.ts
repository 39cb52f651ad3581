import { describe, expect, test } from 'bun:test'
import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import {
  commandsOf,
  packagesInstalledBy,
  isInstalled,
  knownLanguages,
  programs,
  scriptOf,
  shells,
} from './languages'
import { type Block, isRun, assertRan, placeOf, readPages, root, valuesOf } from './pages'
import { createFixture, runOn } from './fixture'
import { forFile } from '../harness/for-file'

const pages = await readPages()
const blocks = pages.flatMap((page) => page.blocks)
const checkout: { scripts: Record<string, string> } = await Bun.file(
  join(root, 'package.json'),
).json()
const interfaceText = await Bun.file(join(root, 'openapi.json')).text()

const ofLanguage = (...languages: readonly string[]) =>
  blocks.filter((block) => languages.includes(block.language) && isRun(block))

const withPlace = (some: readonly Block[]) => some.map((block) => [placeOf(block), block] as const)

/** Blocks of commands that are looked up instead of run. */
const isLookedUp = (block: Block) =>
  commandsOf(block.code).every((command) => scriptOf(command) ?? packagesInstalledBy(command))

const fixture = forFile(createFixture, async (opened) => opened[Symbol.asyncDispose]())

describe('blocks of the pages run unchanged', () => {
  const shown = ofLanguage(...shells).filter((block) => !isLookedUp(block))
  // What one block sets, those below it on the same page know, as in a reader's terminal.
  const sessions = [...Map.groupBy(shown, ({ page }) => page)]

  test.each(sessions)('%s: the shell', async (_page, session) => {
    const script = session.map((block) => {
      const fails = valuesOf(block, 'fails').length > 0
      const code = fixture().here(block)
      return `echo; echo '@@'\n${fails ? `if (${code}\n); then exit 99; fi` : code}`
    })
    // curl is curl; an answer that is an error is a failure, and its progress is not printed.
    const head = `set -euo pipefail\ncurl() { command curl --fail-with-body -sS "$@"; }\n`
    const { code, output } = await runOn(fixture(), ['bash', '-c', head + script.join('\n')])
    const outputs = output.split(/^@@$/m).slice(1)
    for (const [at, printed] of outputs.entries()) {
      const block = session[at]
      if (block) assertRan(block, { code: at === outputs.length - 1 ? code : 0, output: printed })
    }
    expect(outputs).toHaveLength(session.length)
  })

  test.each(withPlace(ofLanguage(...programs).filter(({ code }) => isInstalled(code))))(
    '%s',
    async (place, block) => {
      const { directory, here } = fixture()
      await symlink(join(root, 'node_modules'), join(directory, 'node_modules')).catch(() => {})
      const file = join(directory, `${place.replaceAll(/\W+/g, '-')}.ts`)
      await Bun.write(file, here(block))
      assertRan(block, await runOn(fixture(), [process.execPath, file]))
    },
  )
})

describe('data blocks are whole', () => {
  const document: { components: object } = JSON.parse(interfaceText)
  const ajv = new Ajv2020({ strict: false, validateFormats: false })
  ajv.addSchema({ $id: 'interface', components: document.components })

  const parsers: Record<string, (text: string) => unknown> = {
    json: JSON.parse,
    yaml: Bun.YAML.parse,
    toml: Bun.TOML.parse,
  }

  test.each(withPlace(ofLanguage(...Object.keys(parsers))))('%s', (_place, block) => {
    const value = parsers[block.language]?.(block.code)
    expect(value).toBeObject()
    for (const name of valuesOf(block, 'schema')) {
      const valid = ajv.getSchema(`interface#/components/schemas/${name}`)
      expect(valid).toBeFunction()
      void valid?.(value)
      expect(valid?.errors ?? []).toEqual([])
    }
  })
})

describe('nothing is passed over in silence', () => {
  test('every block says its language, and that it is not run where nothing here could', () => {
    expect(blocks.filter(({ language }) => language === '').map(placeOf)).toEqual([])
    const others = blocks.filter(
      (block) => isRun(block) && !knownLanguages.includes(block.language),
    )
    expect(others.map(placeOf)).toEqual([])
  })

  test('a block’s prerequisites are linked on its page', () => {
    const takers = pages.filter(({ path, text, blocks: own }) => {
      const taken = own.some(
        ({ language, code }) => shells.includes(language) && /\$(BASE|KEY|ADMIN_KEY)\b/.test(code),
      )
      return taken && path !== 'docs/README.md' && !text.includes('README.md#examples')
    })
    expect(takers.map(({ path }) => path)).toEqual([])
  })

  test('every skipped block has a reason', () => {
    const left = blocks.filter((block) => !isRun(block))
    const reasons = left.map((block) => `${placeOf(block)}: ${valuesOf(block, 'not run').join()}`)
    console.log(['not run:', ...reasons].join('\n  '))
    const bare = left.filter((block) => valuesOf(block, 'not run').some((why) => why.length < 10))
    expect(bare.map(placeOf)).toEqual([])
  })

  test('commands for a checkout are scripts that there are, and stand by themselves', () => {
    const commands = ofLanguage(...shells).flatMap((block) =>
      commandsOf(block.code).map((command) => ({ block, name: scriptOf(command) })),
    )
    const ofCheckout = commands.filter(({ name }) => name !== undefined)
    expect(ofCheckout.length).toBeGreaterThan(4)
    for (const { block, name = '' } of ofCheckout) {
      expect([placeOf(block), isLookedUp(block)]).toEqual([placeOf(block), true])
      expect(Object.keys({ ci: '', ...checkout.scripts })).toContain(name)
    }
  })
})
