import { expect } from 'bun:test'
import { Glob } from 'bun'
import { dirname, join } from 'node:path'

export const root = dirname(dirname(import.meta.dir))

/** What a comment right before a block says of it: `<!-- prints: Hello! -->`. */
const markNames = ['not run', 'prints', 'fails', 'schema'] as const
type MarkName = (typeof markNames)[number]

/** A fenced block of a page. */
export interface Block {
  page: string
  /** Of its first fence, from 1. */
  line: number
  language: string
  code: string
  marks: readonly { name: MarkName; value: string }[]
}

export interface Page {
  /** From the repository's root. */
  path: string
  text: string
  blocks: readonly Block[]
  /** What `#...` can name. */
  anchors: ReadonlySet<string>
}

/** Every page that people are sent to, the shortest way first. */
export async function readPages(): Promise<Page[]> {
  const found = await Array.fromAsync(new Glob('docs/**/*.md').scan({ cwd: root }))
  const paths = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'ROADMAP.md', ...found.toSorted()]
  return Promise.all(
    paths.map(async (path) => {
      const text = await Bun.file(join(root, path)).text()
      return { path, text, blocks: blocksOf(path, text), anchors: anchorsOf(text) }
    }),
  )
}

/** Fences may stand in a list, and are as far to the right as their first one. */
function blocksOf(page: string, text: string): Block[] {
  const lines = text.split('\n')
  const blocks: Block[] = []
  for (let at = 0; at < lines.length; at++) {
    const [, indent, fence, language = ''] = /^( *)(```+)(.*)$/.exec(lines[at] ?? '') ?? []
    if (indent === undefined || fence === undefined) continue
    const end = lines.indexOf(indent + fence, at + 1)
    if (end < 0) throw new Error(`${page}:${at + 1}: this block has no end`)
    const code = lines
      .slice(at + 1, end)
      .map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line))
      .join('\n')
    const marks = marksBefore(lines, at)
    blocks.push({ page, line: at + 1, language: language.trim(), code, marks })
    at = end
  }
  return blocks
}

function marksBefore(lines: readonly string[], at: number): Block['marks'] {
  const marks: Block['marks'][number][] = []
  for (let above = at - 1; above >= 0; above--) {
    const line = (lines[above] ?? '').trim()
    if (line === '') continue
    const [, name, value = ''] = /^<!-- ([a-z ]+?):? ?((?<=: ?).*?)? ?-->$/.exec(line) ?? []
    const known = markNames.find((one) => one === name)
    if (!known) break
    marks.unshift({ name: known, value: value.trim() })
  }
  return marks
}

/** The headings as GitHub names them in addresses. */
function anchorsOf(text: string): Set<string> {
  const anchors = new Set<string>()
  for (const [, heading = ''] of withoutCode(text).matchAll(/^#{1,6} +(.+?) *#*$/gm)) {
    const slug = heading
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-')
    let name = slug
    for (let again = 1; anchors.has(name); again++) name = `${slug}-${again}`
    anchors.add(name)
  }
  return anchors
}

/** A page without what is quoted in it, where `#` and brackets mean other things. */
export const withoutCode = (text: string): string =>
  text
    .replaceAll(/^( *)(```+)[^\n]*\n[\s\S]*?^\1\2$/gm, '')
    .replaceAll(/`[^`\n]*`/g, (code) => code.replaceAll(/[[\]()]/g, ' '))

/** Values of a mark, in their order. */
export const valuesOf = (block: Block, name: MarkName): string[] =>
  block.marks.flatMap((mark) => (mark.name === name ? [mark.value] : []))

export const isRun = (block: Block): boolean => valuesOf(block, 'not run').length === 0

export const placeOf = ({ page, line, language }: Block): string => `${page}:${line} (${language})`

/** That a block which was run did what its page says. */
export function assertRan(block: Block, ran: { code: number; output: string }): void {
  const message = `${placeOf(block)} said:\n${ran.output}`
  const [prints, fails] = [valuesOf(block, 'prints'), valuesOf(block, 'fails')]
  expect({ code: ran.code, message }).toEqual({ code: 0, message })
  for (const text of [...prints, ...fails]) expect(message).toContain(text)
}

/** The rows of a page's table below a heading, each as its cells. */
export function tableOf(page: Page, heading: string): string[][] {
  const begin = page.text.indexOf(`\n${heading}\n`)
  if (begin < 0) throw new Error(`${page.path} has no heading "${heading}"`)
  const rest = page.text.slice(begin + heading.length + 2)
  const [section = ''] = rest.split(/^#{1,6} /m)
  return section
    .split('\n')
    .filter((line) => line.startsWith('|') && !/^\|[\s|:-]+\|$/.test(line))
    .slice(1)
    .map((line) =>
      line
        .slice(1, -1)
        .split(/(?<!\\)\|/)
        .map((cell) => cell.trim()),
    )
}
