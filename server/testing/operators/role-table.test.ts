import { test } from 'bun:test'
import { roleTable } from './role-table'
import { expectInDocs } from '../wire/docs-table'

test('the table of docs/operate/roles.md has every endpoint of operators; WRITE_DOCS=1 writes it', async () => {
  const write = process.env['WRITE_DOCS'] === '1'
  await expectInDocs({ page: 'operate/roles.md', name: 'The table of roles', write }, roleTable())
})
