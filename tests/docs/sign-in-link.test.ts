import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { Glob } from 'bun'
import { root } from './pages'

/** Sentences about a link in the journal, or in the output of every start: earlier versions printed it there. */
const outdated = [
  /journalctl[^.]*sign-in link/is,
  /sign-in link[^.]*journalctl/is,
  /every start[^.]*sign-in link/is,
]

test.each([
  ['finding N14: no page', ['*.md', 'docs/**/*.md']],
  ['finding B13: no page of the dashboard', ['dashboard/src/**/*.tsx']],
])('%s sends an operator to a sign-in link that is not printed', async (_name, patterns) => {
  const paths = patterns.flatMap((pattern) => [...new Glob(pattern).scanSync(root)])
  expect(paths.length).toBeGreaterThan(20)
  const texts = await Promise.all(
    paths.map(async (path) => ({ path, text: await Bun.file(join(root, path)).text() })),
  )
  const found = texts.filter(({ text }) => outdated.some((each) => each.test(text)))
  expect(found.map(({ path }) => path)).toEqual([])
})
