import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { readPages, root, withoutCode } from './pages'

const pages = await readPages()
const anchors = new Map(pages.map((page) => [page.path, page.anchors]))

/** `[text](target)`, but for what lies outside of the repository. */
const targetsOf = (text: string) =>
  [...withoutCode(text).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^(https?:|mailto:)/.test(target))

/** What is wrong with a link, undefined where it leads somewhere. */
function faultOf(from: string, target: string): string | undefined {
  const [path = '', anchor] = target.split('#')
  const file = path === '' ? from : normalize(join(dirname(from), decodeURI(path)))
  if (!existsSync(join(root, file))) return `${from}: ${target}: there is no ${file}`
  const known = anchors.get(file)
  if (anchor === undefined || known === undefined || known.has(anchor)) return undefined
  return `${from}: ${target}: ${file} has no such heading`
}

test('every link between pages leads somewhere, its anchor too', () => {
  const links = pages.flatMap(({ path, text }) => targetsOf(text).map((target) => [path, target]))
  expect(links.length).toBeGreaterThan(50)
  const faults = links.flatMap(([path = '', target = '']) => faultOf(path, target) ?? [])
  expect(faults).toEqual([])
})

test('a page that is only named exists, too', async () => {
  const changes = { path: 'CHANGELOG.md', text: await Bun.file(join(root, 'CHANGELOG.md')).text() }
  const faults = [...pages, changes].flatMap(({ path, text }) =>
    [...text.matchAll(/\bdocs\/[\w/-]+\.md\b/g)].flatMap(([name]) =>
      existsSync(join(root, name)) ? [] : `${path}: ${name}`,
    ),
  )
  expect(faults).toEqual([])
})

test('every page is reached from docs/README.md', () => {
  const index = pages.find(({ path }) => path === 'docs/README.md')
  const reached = targetsOf(index?.text ?? '').map((target) =>
    normalize(join('docs', target.replace(/#.*/, ''))),
  )
  const missing = pages.filter(({ path }) => path !== 'docs/README.md' && !reached.includes(path))
  expect(missing.map(({ path }) => path)).toEqual([])
})
