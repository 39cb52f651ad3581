import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { Glob } from 'bun'
import { root } from './pages'

/** Texts that people read and paste, and the programs that print them. */
const texts = [
  '*.md',
  'package.json',
  '{bench,bin,cli,client,connect,dashboard,deploy,docs,server,tests}/**/*.{md,mjs,mts,ts,tsx,sh,yml,yaml,service,timer}',
]

/** npx runs what anybody publishes under this name, unless it stands in a checkout. */
const fetched = /\b(npx|bunx|npm exec|pnpm dlx|yarn dlx)( -{1,2}\S+)* tollgate\b/

test('finding N11: no text has npx run a package by the name of tollgate', async () => {
  const paths = texts.flatMap((pattern) => [...new Glob(pattern).scanSync(root)])
  const known = ['README.md', 'package.json', 'docs/operate/deployment.md']
  expect(paths).toEqual(expect.arrayContaining(known))
  const found: string[] = []
  for (const path of paths.filter((each) => !each.includes('node_modules/'))) {
    if (fetched.test(await Bun.file(join(root, path)).text())) found.push(path)
  }
  expect(found).toEqual([])
})
