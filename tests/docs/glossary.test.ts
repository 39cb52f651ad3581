import { describe, expect, test } from 'bun:test'
import { join, normalize } from 'node:path'
import { type Page, readPages, tableOf, withoutCode } from './pages'

const pages = await readPages()
const glossary = pages.find(({ path }) => path === 'docs/concepts/glossary.md')
if (!glossary) throw new Error('there is no docs/concepts/glossary.md')
const entries = tableOf(glossary, '## Terms').map(([term = '', , links = '']) => ({
  term,
  targets: [...links.matchAll(/\]\(([^)]+)\)/g)].map(([, target = '']) => target),
}))

/** What a reader who knows the field searches for. */
const standard = [
  'rate limit',
  'load balancing',
  'failover',
  'fallback',
  'circuit breaker',
  'graceful shutdown',
  'load shedding',
  'bring your own key',
  'BYOK',
  'virtual key',
  'alias',
  'spending limit',
  'budget',
  'audit log',
  'idempotency',
  'backpressure',
  'retry budget',
  'streaming',
  'tool call',
  'prompt caching',
  'RBAC',
  'SSO',
  'webhook',
]

/** A heading of a page, with what stands below it. */
interface Hit {
  page: string
  heading: string
}

/** What a search finds: headings that have the words, which is where a reader looks first. */
function search(words: string): Hit[] {
  return pages
    .filter(
      ({ path }) =>
        path.startsWith('docs/') && !/^docs\/(contract\/|concepts\/glossary)/.test(path),
    )
    .flatMap((page) =>
      headingsOf(page)
        .filter((heading) => heading.toLowerCase().includes(words.toLowerCase()))
        .map((heading) => ({ page: page.path, heading })),
    )
}

const headingsOf = ({ text }: Page): string[] =>
  [...withoutCode(text).matchAll(/^#{1,6} +(.+)$/gm)].map(([, heading = '']) => heading)

const pageOf = (target: string) => normalize(join('docs/concepts', target.replace(/#.*/, '')))

describe('a search of the docs finds the page on', () => {
  test.each(standard)('%s', (words) => {
    const entry = entries.find(({ term }) => term.toLowerCase().includes(words.toLowerCase()))
    expect(entry).toBeDefined()
    const found = search(words).map(({ page }) => page)
    const led = (entry?.targets ?? []).map(pageOf)
    expect(found.filter((page) => led.includes(page))).not.toBeEmpty()
  })

  test('nothing where no heading has the words', () => {
    expect(search('quantum entanglement')).toEqual([])
  })
})

describe('the glossary', () => {
  test('has each term once, in alphabetical order', () => {
    const terms = entries.map(({ term }) => term)
    expect(terms.length).toBeGreaterThan(40)
    expect(terms).toEqual(
      [...new Set(terms)].toSorted((a, b) => a.localeCompare(b, 'en', { sensitivity: 'base' })),
    )
  })

  test('leads from each term to a page', () => {
    const known = new Set(pages.map(({ path }) => path))
    const lost = entries.filter(
      ({ targets }) => targets.length === 0 || targets.some((target) => !known.has(pageOf(target))),
    )
    expect(lost.map(({ term }) => term)).toEqual([])
  })
})
