import { join } from 'node:path'
import { expect } from 'bun:test'

/** A table of Markdown. */
export function toTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, head.map(() => '---'), ...rows]
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

interface TablePosition {
  page: string
  name: string
  /** Puts the text there, in place of expecting it. */
  write: boolean
}

/** Expects that a page of docs has a text between the comments that name it. */
export async function expectInDocs(
  { page, name, write }: TablePosition,
  text: string,
): Promise<void> {
  const path = join(import.meta.dir, '../../../docs', page)
  const begin = `<!-- ${name} begins -->`
  const end = `<!-- ${name} ends -->`
  const before = await Bun.file(path).text()
  const [head, rest] = before.split(begin)
  const [, tail] = rest?.split(end) ?? []
  if (tail === undefined) throw new Error(`${page} has no place for "${name}".`)
  const changed = `${head}${begin}\n\n${text}\n\n${end}${tail}`
  if (write) await Bun.write(path, changed)
  else expect(before).toBe(changed)
}
