import { expect, test } from 'bun:test'
import { currentTable, tablePath } from './fault-table'

test('docs/contribute/faults.md names for each row its tests, or the reason for none', async () => {
  const { text, complaints } = await currentTable()
  expect(complaints).toEqual([])
  // `node bin/tollgate.mjs run tests/fault-table.ts` writes it.
  expect(await Bun.file(tablePath).text()).toBe(text)
})
