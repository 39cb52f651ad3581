import { join } from 'node:path'
import { expect, test } from 'bun:test'
import { conformanceTable } from './table'

const page = join(import.meta.dir, '../../../docs/operate/providers.md')
const begin = '<!-- The table begins: written by server/testing/conformance/table.test.ts -->'
const end = '<!-- The table ends -->'

test('the table of docs/operate/providers.md matches the dialects; WRITE_DOCS=1 writes it', async () => {
  const text = await Bun.file(page).text()
  const [before, rest = ''] = text.split(begin)
  const [, after] = rest.split(end)
  const made = `${before}${begin}\n\n${conformanceTable()}\n\n${end}${after}`
  if (process.env['WRITE_DOCS'] === '1') await Bun.write(page, made)
  else expect(text).toBe(made)
})
