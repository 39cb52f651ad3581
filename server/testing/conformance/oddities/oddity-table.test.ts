import { test } from 'bun:test'
import { oddityTable } from './oddity-table'
import { expectInDocs } from '../../wire/docs-table'

test('the table of docs/operate/providers.md has every oddity of answers; WRITE_DOCS=1 writes it', async () => {
  const write = process.env['WRITE_DOCS'] === '1'
  await expectInDocs(
    { page: 'operate/providers.md', name: 'The table of oddities', write },
    oddityTable(),
  )
})
