import { join } from 'node:path'
import { expect } from 'bun:test'

/** A table of Markdown. */
export function toTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, head.map(() => '---'), ...rows]
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

/**
 * Expects that `page` of docs has a text between the comments that name it; with WRITE_DOCS=1 it is put there.
 */
export async function expectInDocs(page: string, name: string, text: string): Promise<void> {
  const path = join(import.meta.dir, '../../../docs', page)
  const begin = `<!-- ${name} begins -->`
  const end = `<!-- ${name} ends -->`
  const before = await Bun.file(path).text()
  const [head, rest] = before.split(begin)
  const [, tail] = rest?.split(end) ?? []
  if (tail === undefined) throw new Error(`${page} has no place for "${name}".`)
  const made = `${head}${begin}\n\n${text}\n\n${end}${tail}`
  if (process.env['WRITE_DOCS'] === '1') await Bun.write(path, made)
  else expect(before).toBe(made)
}
