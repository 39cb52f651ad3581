import { test } from 'bun:test'
import { endpointTable } from './endpoint-table'
import { expectInDocs } from '../wire/docs-table'

test('the table of docs/operate/providers.md has every provider and endpoint; WRITE_DOCS=1 writes it', async () => {
  const write = process.env['WRITE_DOCS'] === '1'
  await expectInDocs(
    { page: 'operate/providers.md', name: 'The table of endpoints', write },
    await endpointTable(),
  )
})
